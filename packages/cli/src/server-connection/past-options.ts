// --at and --revision: an environment as it was.
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
    .option("--at <time>", "as it was at this time, or so long ago", moment)
    .option(
      "--revision <number>",
      "as it was at this revision of the environment; halyard history shows them",
      wholeNumber(0),
    );

/** Undefined when it is about now. */
export const pastOf = ({ at, revision }: PastOptions): PastQuery | undefined => {
  if (at !== undefined && revision !== undefined) {
    throw new CommandFailed("Pass only one of --at and --revision.", exitCodes.usage);
  }
  if (at !== undefined) return { at: at.toISOString() };
  return revision === undefined ? undefined : { revision };
};

/** What stands behind the @ of a profile: a revision, a time, or how long ago. */
export const pastIn = (text: string): PastQuery =>
  /^\d+$/.test(text) ? { revision: wholeNumber(0)(text) } : { at: moment(text).toISOString() };
