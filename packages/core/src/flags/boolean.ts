// A flag that is on or off for everyone, or for those whom its rules name.
import { fixedFlag, offFlag, staticOn } from "../evaluate.ts";
import { allThousandths } from "../percentage.ts";
import type { FlagBase, FlagType } from "./flag-type.ts";
import { isOnOrOff, onOrOff } from "./on-or-off.ts";

export interface BooleanFlag extends FlagBase {
  readonly type: "boolean";
  /** When no rule decides. There with rules, absent without. */
  readonly otherwise?: "on" | "off";
}

const on = fixedFlag(staticOn);

export const booleanType: FlagType<BooleanFlag> = {
  name: "boolean",
  summary: "is on or off for everyone",
  members: {
    otherwise: {
      schema: {
        description: "What the flag gives when no rule decides. Needed with `rules`.",
        "x-must-be": '"on" or "off"',
        "x-schema": { type: "string", enum: ["on", "off"] },
      },
      initial: undefined,
      isOptional: true,
      onlyWith: "rules",
      isValid: isOnOrOff,
      normalize: (value) => value,
      format: (value) => value,
    },
  },
  refusal: "a boolean flag is either on or off for everyone",
  level: 1,
  choice: ({ otherwise = "on" }) => ({ ...onOrOff, otherwise }),
  prepare: ({ enabled }) => (enabled ? on : offFlag),
  reach: ({ otherwise }) => (otherwise === "off" ? 0 : allThousandths),
};
