// Reads attributes of a context as JSON would contain them, so that local evaluation and evaluation over HTTP agree.
import type { EvaluationContext } from "../../context.ts";

/** Returns undefined if the attribute is missing. */
export type ReadAttribute = (context: EvaluationContext) => unknown;

type Members = Readonly<Record<string, unknown>>;

/** The JSON form of a value that needs no conversion; undefined if JSON has no form for it. Nested objects stay unconverted. */
const plainAsJson = (value: unknown): unknown => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      // JSON has no negative zero.
      return Number.isFinite(value) ? value + 0 : null;
    case "object":
      return value instanceof Number || value instanceof String || value instanceof Boolean
        ? plainAsJson(value.valueOf())
        : value;
    default:
      return undefined;
  }
};

/**
 * The value as JSON would contain it: a Date becomes a string, NaN becomes null, a function is missing. As in JSON,
 * `toJSON` is called once with the name of the field, even on functions and BigInts.
 */
export const asJson = (value: unknown, name: string | number = ""): unknown => {
  switch (typeof value) {
    case "object":
    case "function":
    case "bigint": {
      if (value === null) return null;
      const { toJSON } = value as { readonly toJSON?: unknown };
      return plainAsJson(typeof toJSON === "function" ? toJSON.call(value, String(name)) : value);
    }
    default:
      return plainAsJson(value);
  }
};

const memberOf = (value: object, name: string): unknown =>
  Object.prototype.propertyIsEnumerable.call(value, name)
    ? asJson((value as Members)[name], name)
    : undefined;

const indexPattern = /^(0|[1-9]\d{0,9})$/;

/** JSON writes null for elements without a JSON form. */
const stepInto = (value: unknown, name: string): unknown => {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value)) return memberOf(value, name);
  if (!indexPattern.test(name) || Number(name) >= value.length) return undefined;
  return asJson(value[Number(name)], name) ?? null;
};

/** The steps of a JSON Pointer; undefined if the text is not a valid one. */
export const pointerSteps = (pointer: string): readonly string[] | undefined => {
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
};

/** The name of the field that an attribute reads; undefined for a deeper path. */
const topNameOf = (attribute: string): string | undefined => {
  const steps = pointerSteps(attribute);
  if (steps === undefined) return attribute;
  return steps.length === 1 ? steps[0] : undefined;
};

/** `attribute` is a literal name, or a JSON Pointer if it starts with a slash. Ignores inherited fields. */
export const readerOf = (attribute: string): ReadAttribute => {
  const top = topNameOf(attribute);
  if (top !== undefined) return (context) => memberOf(context, top);
  const steps = pointerSteps(attribute) ?? [];
  return (context) => {
    let value: unknown = context;
    for (const step of steps) value = stepInto(value, step);
    return value;
  };
};

/**
 * The context with only its own fields, which is nearly always the context itself. Checking this once per evaluation is
 * faster than checking each attribute. Fields that `defineProperty` hides from JSON are read too, and an inherited
 * targeting key counts.
 */
export const ownMembersOf = (context: EvaluationContext): EvaluationContext => {
  const prototype: unknown = Object.getPrototypeOf(context);
  return prototype === Object.prototype || prototype === null
    ? context
    : { ...context, targetingKey: context.targetingKey };
};

/** The field that an attribute reads, if it can be read directly from a context of own fields. */
export const memberNameOf = (attribute: string): string | undefined => {
  const top = topNameOf(attribute);
  // Every object inherits properties of these names.
  return top === undefined || top in Object.prototype ? undefined : top;
};
