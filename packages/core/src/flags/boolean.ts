// A flag that is on or off for everyone.
import { fixedFlag, offFlag, staticOn } from "../evaluate.ts";
import { allThousandths } from "../percentage.ts";
import type { FlagBase, FlagType } from "./flag-type.ts";

export interface BooleanFlag extends FlagBase {
  readonly type: "boolean";
}

const on = fixedFlag(staticOn);

export const booleanType: FlagType<BooleanFlag> = {
  name: "boolean",
  summary: "is on or off for everyone",
  members: {},
  refusal: "a boolean flag is either on or off for everyone",
  level: () => 1,
  prepare: ({ enabled }) => (enabled ? on : offFlag),
  reach: () => allThousandths,
};
