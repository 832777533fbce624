// A flag that is on or off for everyone, or for the users that its rules match.
import { fixedFlag, offFlag, staticOn } from "../evaluate.ts";
import { allThousandths } from "../percentage.ts";
import type { FlagBase, FlagType } from "./flag-type.ts";
import { isOnOrOff, onOrOff } from "./on-or-off.ts";

export interface BooleanFlag extends FlagBase {
  readonly type: "boolean";
  /** The default rule. Present if there are rules, absent otherwise. */
  readonly otherwise?: "on" | "off";
}

const on = fixedFlag(staticOn);

export const booleanType: FlagType<BooleanFlag> = {
  name: "boolean",
  summary: "is on or off for everyone",
  members: {
    otherwise: {
      schema: {
        description:
          "The default rule: what the flag returns if no rule matches. Required with `rules`.",
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
