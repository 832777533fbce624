// The Flag as every program sees it: its shape, and the rules for its fields.
import { type Static, Type } from "typebox";

export const flagKeyPattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$";
const flagKeyExpression = new RegExp(flagKeyPattern);

export const isFlagKey = (text: string): boolean => flagKeyExpression.test(text);

export const maxDescriptionLength = 2_000;

export const FlagKey = Type.String({
  pattern: flagKeyPattern,
  description: "Identifier of the flag within the environment. Case-sensitive.",
  "x-must-be":
    "1 to 128 characters, letters, digits, dot, underscore or hyphen, beginning with a letter or a digit",
});

export const FlagType = Type.Enum(["boolean", "rollout"], {
  description:
    "`boolean` is on or off for everyone, `rollout` reaches a percentage. Fixed at creation.",
  "x-must-be": '"boolean" or "rollout"',
});
export type FlagType = Static<typeof FlagType>;

export const Enabled = Type.Boolean({
  description: "Whether the flag is on.",
  "x-must-be": "true or false",
});

export const percentageRule = "a number from 0 to 100 with at most three decimals";
export const Percentage = Type.Number({
  minimum: 0,
  maximum: 100,
  multipleOf: 0.001,
  description: "Share of targeting keys that get the flag while it is on. Rollout flags only.",
  "x-must-be": percentageRule,
});

export const Description = Type.Unsafe<string | null>({
  type: ["string", "null"],
  maxLength: maxDescriptionLength,
  description: "Free text for people; `null` when there is none.",
  "x-must-be": "a string of at most 2,000 characters, or null",
});

const closed = { additionalProperties: false } as const;

export const BooleanFlag = Type.Object(
  {
    key: FlagKey,
    type: Type.Literal("boolean"),
    enabled: Enabled,
    description: Description,
  },
  closed,
);

export const RolloutFlag = Type.Object(
  {
    key: FlagKey,
    type: Type.Literal("rollout"),
    enabled: Enabled,
    percentage: Percentage,
    description: Description,
  },
  closed,
);

export type RolloutFlag = Static<typeof RolloutFlag>;

export const Flag = Type.Union([BooleanFlag, RolloutFlag]);
export type Flag = Static<typeof Flag>;

export const CreateFlag = Type.Object(
  {
    key: FlagKey,
    type: FlagType,
    description: Type.Optional(Description),
    percentage: Type.Optional(Percentage),
  },
  closed,
);
export type CreateFlag = Static<typeof CreateFlag>;

const fixed = "is fixed at creation and cannot be changed; create another flag instead";
export const PatchFlag = Type.Object(
  {
    enabled: Type.Optional(Enabled),
    percentage: Type.Optional(Percentage),
    description: Type.Optional(Description),
  },
  { ...closed, "x-refused": { type: fixed, key: fixed } },
);
export type PatchFlag = Static<typeof PatchFlag>;
