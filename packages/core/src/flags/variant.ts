// A flag that returns one of several values: strings, numbers or objects.
import type { FlagValue } from "../evaluate.ts";
import { allThousandths, thousandthsOf } from "../percentage.ts";
import { checkServe } from "../targeting/check-targeting.ts";
import { isObject, type ValidationErrors } from "../targeting/mistakes.ts";
import type { Serve } from "../targeting/targeting.ts";
import type { FlagBase, FlagType, Schema } from "./flag-type.ts";
import { bytesOf, flagKeyRule, isFlagKey } from "./rules.ts";

export const valueTypes = ["string", "number", "object"] as const;
export type ValueType = (typeof valueTypes)[number];

export interface VariantFlag extends FlagBase {
  readonly type: "variant";
  readonly valueType: ValueType;
  readonly variants: Readonly<Record<string, FlagValue>>;
  /** The variant while the flag is off, or while a prerequisite is not met. */
  readonly off: string;
  /** The default rule: a variant, or shares that add up to 100. */
  readonly otherwise: Serve;
}

const maxVariants = 50;
const maxObjectBytes = 16 * 1_024;
const greatest = Number.MAX_SAFE_INTEGER;

const isNumber = (value: unknown): value is number =>
  Number.isFinite(value) && Math.abs(value as number) <= greatest;

/** Completes the sentence "must be …" for an invalid value; undefined if the value is valid. */
const wrongValue = (valueType: ValueType, value: unknown): string | undefined => {
  switch (valueType) {
    case "string":
      return typeof value === "string" ? undefined : "a string";
    case "number":
      return isNumber(value) ? undefined : `a number from -${greatest} to ${greatest}`;
    case "object":
      if (!isObject(value)) return "an object";
      return bytesOf(JSON.stringify(value)) <= maxObjectBytes
        ? undefined
        : "an object of at most 16 KiB of JSON";
  }
};

const checkVariants = ({ variants, valueType }: VariantFlag, errors: ValidationErrors): void => {
  const names = Object.keys(variants);
  if (names.length === 0 || names.length > maxVariants) {
    errors.add("variants", `must have 1 to ${maxVariants} variants`);
    return;
  }
  for (const name of names) {
    const isName: boolean = isFlagKey(name);
    if (!isName) errors.add(`variants.${name}`, `must have a name of ${flagKeyRule}`);
    const wrong = wrongValue(valueType, variants[name]);
    if (wrong !== undefined) errors.add(`variants.${name}`, `must be ${wrong}`);
  }
};

const isServe = (value: unknown): value is Serve =>
  typeof value === "string" || Array.isArray(value);
const isName = (value: unknown): value is string => typeof value === "string";
const nameSchema: Schema = { type: "string" };

export const variantType: FlagType<VariantFlag> = {
  name: "variant",
  summary: "returns one of several values",
  members: {
    valueType: {
      schema: {
        type: "string",
        enum: valueTypes,
        description: "The type of the values. Variant flags only; fixed at creation.",
        "x-must-be": '"string", "number" or "object"',
      },
      initial: undefined,
      isFixed: true,
      isValid: (value): value is ValueType => valueTypes.includes(value as ValueType),
      normalize: (value) => value,
      format: (value) => value,
    },
    variants: {
      schema: {
        description: "The values by name, 1 to 50. Variant flags only.",
        "x-must-be": "an object with a value for each variant",
        "x-schema": {
          type: "object",
          minProperties: 1,
          maxProperties: maxVariants,
          additionalProperties: { $ref: "#/components/schemas/VariantValue" },
        },
      },
      initial: undefined,
      isValid: (value): value is VariantFlag["variants"] => isObject(value),
      normalize: (value) => value,
      format: (value) => JSON.stringify(value),
    },
    off: {
      schema: {
        description: "The variant while the flag is off. Variant flags only.",
        "x-must-be": "the name of a variant",
        "x-schema": nameSchema,
      },
      initial: undefined,
      isValid: isName,
      normalize: (value) => value,
      format: (value) => value,
    },
    otherwise: {
      schema: {
        description:
          "The default rule, used if no rule matches. For a variant flag: a variant, or a list of shares that add up to 100. For a boolean flag with rules: `on` or `off`.",
        "x-must-be": "the name of a variant or a list of shares",
        "x-schema": { anyOf: [nameSchema, { $ref: "#/components/schemas/Split" }] },
      },
      initial: undefined,
      isValid: isServe,
      normalize: (value) => value,
      format: (value) => formatServe(value),
    },
  },
  refusal: "a variant flag has variants",
  level: 2,
  choice: ({ variants, off, otherwise }) => ({ variants, off, otherwise }),
  check(flag, errors) {
    checkVariants(flag, errors);
    const isVariant = (name: unknown): boolean =>
      typeof name === "string" && Object.hasOwn(flag.variants, name);
    if (!isVariant(flag.off)) errors.add("off", "must be a variant of the flag");
    checkServe(flag.otherwise, "otherwise", { errors, isVariant }, 100);
  },
  reach({ off, otherwise }) {
    if (typeof otherwise === "string") return otherwise === off ? 0 : allThousandths;
    const reached = otherwise.filter(({ variant }) => variant !== off);
    return reached.reduce((sum, { share }) => sum + thousandthsOf(share), 0);
  },
};

/** Such as `small`, or `small 25%, large 75%`. */
export const formatServe = (serve: Serve, formatNumber: (value: number) => string = String) =>
  typeof serve === "string"
    ? serve
    : serve.map(({ variant, share }) => `${variant} ${formatNumber(share)}%`).join(", ");
