// The products whose files `halyard import --from` can read.
import { readFlagd } from "./products/flagd.ts";
import { readFlagsmith } from "./products/flagsmith.ts";
import { readFlipt } from "./products/flipt.ts";
import { readGoFeatureFlag } from "./products/go-feature-flag.ts";
import { readGrowthBook } from "./products/growthbook.ts";
import { readLaunchDarkly } from "./products/launchdarkly.ts";
import { readUnleash } from "./products/unleash.ts";
import type { Importer } from "./source.ts";

export const importers = {
  unleash: readUnleash,
  launchdarkly: readLaunchDarkly,
  flagsmith: readFlagsmith,
  flagd: readFlagd,
  "go-feature-flag": readGoFeatureFlag,
  growthbook: readGrowthBook,
  flipt: readFlipt,
} as const satisfies Record<string, Importer>;

export type Product = keyof typeof importers;
export const products = Object.keys(importers) as Product[];
