// The input and output of importers, and how they reject a file.
import type { Segment } from "@halyard/core/targeting/segment";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed } from "../../terminal/output.ts";
import type { Found } from "./convert.ts";

export interface Source {
  readonly value: unknown;
  /** The environment in the other product, if its file contains several. */
  readonly environment: string | undefined;
}

export interface Reading {
  readonly found: readonly Found[];
  readonly segments?: readonly Segment[];
  /** All environments that the file contains for these flags. */
  readonly environments?: readonly string[];
  /** Remarks about the file as a whole. */
  readonly remarks?: readonly string[];
}

export type Importer = (source: Source) => Reading;

export const notFrom = (product: string, expected: string): CommandFailed =>
  new CommandFailed(`This is not a file from ${product}: ${expected}.`);

/** The requested environment, or the only one. */
export const chooseEnvironment = (
  names: readonly string[],
  requested: string | undefined,
): string | undefined => {
  const list = [...new Set(names)].sort();
  if (requested === undefined && list.length > 1) {
    throw new CommandFailed(
      `The file contains several environments: choose one with --environment (${list.join(", ")}).`,
      exitCodes.usage,
    );
  }
  if (requested !== undefined && !list.includes(requested)) {
    throw new CommandFailed(
      list.length === 0
        ? `The file does not specify its environment: omit --environment.`
        : `The file has no environment "${requested}"; it has ${list.join(", ")}.`,
      exitCodes.notFound,
    );
  }
  return requested ?? list[0];
};

/** For products whose files contain one environment each. */
export const refuseEnvironment = (product: string, { environment }: Source, why: string): void => {
  if (environment !== undefined) throw notFrom(product, `${why}: omit --environment`);
};
