// What is wrong with the key that a person chooses.
import { isFlagKey } from "@halyard/core/flags/rules";

/** Undefined for a key that can be taken, and while nothing is typed. */
export const keyError = (key: string, what: string, isTaken: boolean): string | undefined => {
  if (key === "") return undefined;
  if (!isFlagKey(key)) {
    return "Use letters, digits, dots, underscores and hyphens, at most 128. Start with a letter or a digit.";
  }
  return isTaken ? `A ${what} with this key already exists.` : undefined;
};
