// Reads the target flags from a file of Halyard or of another product.
import { reachOf } from "@halyard/core/flags/registry";
import { allThousandths } from "@halyard/core/percentage";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed } from "../../terminal/output.ts";
import { readDocument } from "../document.ts";
import type { FlagsFile } from "../flags-file.ts";
import { type Converted, type ConvertOptions, convert } from "../importers/convert.ts";
import { readFlagd } from "../importers/flagd.ts";
import { readFlagsmith } from "../importers/flagsmith.ts";
import { readLaunchDarkly } from "../importers/launchdarkly.ts";
import type { Importer } from "../importers/source.ts";
import { readUnleash } from "../importers/unleash.ts";
import { readFlagsFile } from "../read-flags-file.ts";

const importers = {
  unleash: readUnleash,
  launchdarkly: readLaunchDarkly,
  flagsmith: readFlagsmith,
  flagd: readFlagd,
} as const satisfies Record<string, Importer>;

export const origins = ["halyard", "unleash", "launchdarkly", "flagsmith", "flagd"] as const;
export type Origin = (typeof origins)[number];

export interface TargetOptions extends ConvertOptions {
  readonly from: Origin;
  readonly environment?: string;
}

export interface Target extends Converted, FlagsFile {
  readonly remarks: readonly string[];
}

/** A hash selects the users of a percentage, and every product hashes in its own way. */
const bucketRemark = (count: number): string =>
  `${count === 1 ? "One flag reaches" : `${count} flags reach`} a percentage of the users: the percentage stays the same, but Halyard selects other users.`;

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
      notes: [],
      leftOut: [],
      createOnly: new Set(),
      keep: new Set(),
      remarks: [],
    };
  }
  const { value } = await readDocument(file);
  const { found, remarks = [] } = importers[from]({ value, environment });
  const converted = convert(found, options);
  const partial = converted.flags.filter((flag) => {
    const reach = reachOf(flag);
    return reach > 0 && reach < allThousandths;
  }).length;
  return {
    ...converted,
    segments: [],
    remarks: [...remarks, ...(partial > 0 ? [bucketRemark(partial)] : [])],
  };
};
