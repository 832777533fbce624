// How much a definition may repeat: the flags that others require, and the segments that cannot be shared, stand in it again and again.
import type { Findings } from "./findings.ts";

/** Characters of all repetitions together. Without an end, a few large flags that many require would be a definition of gigabytes. */
const maxRepeated = 16_000_000;
/** Of them, those in one flag, which is compiled in one go. */
const maxRepeatedInFlag = 2_000_000;

export interface Room {
  /** Whether this may be put into the definition once more; if not, the findings say so. */
  readonly take: (repeated: object, findings: Findings) => boolean;
  /** The next flag is compiled. */
  readonly next: () => void;
}

export const createRoom = (): Room => {
  const lengths = new Map<object, number>();
  let left = maxRepeated;
  let leftInFlag = maxRepeatedInFlag;
  return {
    next() {
      leftInFlag = maxRepeatedInFlag;
    },
    take(repeated, findings) {
      const length = lengths.get(repeated) ?? JSON.stringify(repeated).length;
      lengths.set(repeated, length);
      if (length > leftInFlag) {
        findings.leaveOut(
          "The flags and segments that it repeats are too large together: the definition of a flag repeats at most 2 million characters.",
        );
        return false;
      }
      if (length <= left) {
        left -= length;
        leftInFlag -= length;
        return true;
      }
      findings.leaveOut(
        "The flags and segments that flags repeat here are too large together: a definition repeats at most 16 million characters.",
      );
      return false;
    },
  };
};
