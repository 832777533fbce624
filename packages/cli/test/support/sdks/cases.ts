// Return values of each product's SDK for flags that the import once converted differently. The comparison checks that they still hold.
import type { Case } from "./cases/case.ts";
import { flagdCases } from "./cases/flagd.ts";
import { flagsmithCases } from "./cases/flagsmith.ts";
import { fliptCases } from "./cases/flipt.ts";
import { growthbookCases } from "./cases/growthbook.ts";
import { launchdarklyCases } from "./cases/launchdarkly.ts";
import { unleashCases } from "./cases/unleash.ts";

export const cases: readonly Case[] = [
  ...launchdarklyCases,
  ...unleashCases,
  ...growthbookCases,
  ...flagsmithCases,
  ...flagdCases,
  ...fliptCases,
];
