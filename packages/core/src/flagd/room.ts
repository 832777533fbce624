// How much a definition may repeat: the flags that others require, and the segments that cannot be shared, stand in it again and again.
import type { Findings } from "./findings.ts";

/** Characters of all repetitions together. Without an end, a few large flags that many require would be a definition of gigabytes. */
const maxRepeated = 16_000_000;

export interface Room {
  /** Whether this may be put into the definition once more; if not, the findings say so. */
  readonly take: (repeated: object, findings: Findings) => boolean;
}

export const createRoom = (): Room => {
  const lengths = new Map<object, number>();
  let left = maxRepeated;
  return {
    take(repeated, findings) {
      const length = lengths.get(repeated) ?? JSON.stringify(repeated).length;
      lengths.set(repeated, length);
      if (length <= left) {
        left -= length;
        return true;
      }
      findings.leaveOut(
        "The flags and segments that flags repeat here are too large together: a definition repeats at most 16 million characters.",
      );
      return false;
    },
  };
};
