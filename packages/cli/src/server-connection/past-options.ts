// The options --at and --revision, which select a past state of an environment.
import type { PastQuery } from "@halyard/sdk/management";
import type { Command } from "commander";
import { exitCodes } from "../terminal/exit-codes.ts";
import { moment, wholeNumber } from "../terminal/option-values.ts";
import { CommandFailed } from "../terminal/output.ts";

export interface PastOptions {
  readonly at?: Date;
  readonly revision?: number;
}

export const pastCommand = (command: Command): Command =>
  command
    .option("--at <time>", "show state at a time or age, such as 2h", moment)
    .option(
      "--revision <number>",
      "show state at this revision of the environment; see halyard history",
      wholeNumber(0),
    );

/** Undefined for the current state. */
export const pastOf = ({ at, revision }: PastOptions): PastQuery | undefined => {
  if (at !== undefined && revision !== undefined) {
    throw new CommandFailed("Pass only one of --at and --revision.", exitCodes.usage);
  }
  if (at !== undefined) return { at: at.toISOString() };
  return revision === undefined ? undefined : { revision };
};

/** Parses the part after @ of a profile: a revision, a time or an age. */
export const pastIn = (text: string): PastQuery =>
  /^\d+$/.test(text) ? { revision: wholeNumber(0)(text) } : { at: moment(text).toISOString() };
