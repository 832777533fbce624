// Limits how much a definition repeats: prerequisites, and segments that can't be shared, appear once for each flag that uses them.
import type { Findings } from "./findings.ts";

/** In characters, over all flags. Without a limit, a few large prerequisites of many flags would make a definition of gigabytes. */
const maxRepeated = 16_000_000;
/** In characters, for one flag, which is compiled without yielding. */
const maxRepeatedInFlag = 2_000_000;

export interface Room {
  /** Whether the definition can contain this once more. If not, adds a finding. */
  readonly take: (repeated: object, findings: Findings) => boolean;
  /** Call before the next flag. */
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
          "The flags and segments that it uses are too large together: the definition of a flag can repeat up to 2 million characters.",
        );
        return false;
      }
      if (length <= left) {
        left -= length;
        leftInFlag -= length;
        return true;
      }
      findings.leaveOut(
        "The flags and segments that flags of this environment use are too large together: a definition can repeat up to 16 million characters.",
      );
      return false;
    },
  };
};
