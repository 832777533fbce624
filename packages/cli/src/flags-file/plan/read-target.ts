// Reads the target flags from a file of Halyard or another product.
import { choiceOf, type Flag, reachOf } from "@halyard/core/flags/registry";
import { allThousandths } from "@halyard/core/percentage";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed } from "../../terminal/output.ts";
import { readDocument } from "../document.ts";
import type { FlagsFile } from "../flags-file.ts";
import { type Converted, type ConvertOptions, type Counts, convert } from "../importers/convert.ts";
import { type Product, products } from "../importers/importers.ts";
import { readProduct } from "../importers/read-product.ts";
import { readFlagsFile } from "../read-flags-file.ts";

export const origins = ["halyard", ...products] as const;
export type Origin = "halyard" | Product;

export interface TargetOptions extends ConvertOptions {
  readonly from: Origin;
  readonly environment?: string;
}

export interface Target extends Omit<Converted, "counts">, Pick<FlagsFile, "webhooks"> {
  /** Results for files of other products. */
  readonly counts: Counts | undefined;
  readonly remarks: readonly string[];
}

/** Percentages are selected by a hash that differs between products. */
const bucketRemark = (count: number): string =>
  `${count === 1 ? "One flag reaches" : `${count} flags reach`} a percentage of the users: the percentage stays the same, but Halyard selects other users.`;

/** Whether a hash decides for some users while the flag is on. */
const reachesPart = (flag: Flag): boolean => {
  const reach = reachOf(flag);
  const { rules = [] } = flag;
  const hasSplit = rules.some(({ serve, disabled }) => typeof serve === "object" && !disabled);
  return (
    flag.enabled &&
    (hasSplit ||
      (reach > 0 && reach < allThousandths) ||
      typeof choiceOf(flag).otherwise === "object")
  );
};

const refuseWithoutOrigin = ({ environment, lossy, renameInvalid }: TargetOptions): void => {
  const given = [
    environment !== undefined && "--environment",
    lossy && "--lossy",
    renameInvalid && "--rename-invalid",
  ].filter((option) => typeof option === "string");
  if (given.length === 0) return;
  throw new CommandFailed(
    `${given.join(" and ")} ${given.length === 1 ? "is" : "are"} for files of other products: name the product with --from.`,
    exitCodes.usage,
  );
};

export const readTarget = async (file: string, options: TargetOptions): Promise<Target> => {
  const { from, environment } = options;
  if (from === "halyard") {
    refuseWithoutOrigin(options);
    const read = await readFlagsFile(await readDocument(file));
    return {
      ...read,
      segments: read.segments ?? [],
      whole: [],
      counts: undefined,
      notes: [],
      leftOut: [],
      createOnly: new Set(),
      keep: new Set(),
      remarks: [],
    };
  }
  const { value } = await readDocument(file);
  const { found, segments = [], remarks = [] } = readProduct(from, { value, environment });
  const converted = convert(found, segments, options);
  const partial = converted.flags.filter(reachesPart).length;
  return {
    ...converted,
    remarks: [...remarks, ...(partial > 0 ? [bucketRemark(partial)] : [])],
  };
};
