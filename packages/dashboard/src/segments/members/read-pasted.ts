// Reads targeting keys from what a person pastes.
import { bytesOf } from "@halyard/core/flags/rules";
import { maxMemberBytes } from "@halyard/core/targeting/check-segment";

export interface Pasted {
  /** Each once, without those that are in the list already. */
  readonly fresh: readonly string[];
  readonly known: readonly string[];
  readonly tooLong: readonly string[];
}

/** One key per line, or several with commas between them. */
export const readPasted = (text: string, list: ReadonlySet<string>): Pasted => {
  const all = new Set(text.split(/[\n\r,]+/).map((key) => key.trim()));
  all.delete("");
  const fresh: string[] = [];
  const known: string[] = [];
  const tooLong: string[] = [];
  for (const key of all) {
    // No text has more than three bytes for each of its UTF-16 units.
    const isTooLong = key.length * 3 > maxMemberBytes && bytesOf(key) > maxMemberBytes;
    (isTooLong ? tooLong : list.has(key) ? known : fresh).push(key);
  }
  return { fresh, known, tooLong };
};
