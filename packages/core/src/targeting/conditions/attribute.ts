// Reads an attribute of a context as JSON would carry it, so that an evaluation in the program and one over HTTP agree.
import type { EvaluationContext } from "../../context.ts";

/** Undefined when it is missing. */
export type ReadAttribute = (context: EvaluationContext) => unknown;

type Members = Readonly<Record<string, unknown>>;

/** What stands for itself in JSON; undefined when JSON has no form for it. Members of an object stay as they are. */
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
 * The value as JSON would carry it: a Date is its text, NaN is null, a function is missing. As in JSON, `toJSON` is called
 * once, with the name of the member, also that of a function and of a BigInt.
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

/** An element that JSON cannot carry is null there. */
const stepInto = (value: unknown, name: string): unknown => {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value)) return memberOf(value, name);
  if (!indexPattern.test(name) || Number(name) >= value.length) return undefined;
  return asJson(value[Number(name)], name) ?? null;
};

/** The names in a JSON Pointer; undefined when it is none. */
export const pointerSteps = (pointer: string): readonly string[] | undefined => {
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
};

/** The member of the context that an attribute is; undefined for one that lies deeper. */
const topNameOf = (attribute: string): string | undefined => {
  const steps = pointerSteps(attribute);
  if (steps === undefined) return attribute;
  return steps.length === 1 ? steps[0] : undefined;
};

/** `attribute` is a literal name, or a JSON Pointer when it begins with a slash. Only own members count. */
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
 * The context with nothing but its own members, which is nearly always the context itself. Looked at once for an evaluation:
 * to ask of each attribute whether it is an own member is slower. What a plain object hides from JSON
 * by `defineProperty` is read too. The targeting key may be inherited, as it always could.
 */
export const ownMembersOf = (context: EvaluationContext): EvaluationContext => {
  const prototype: unknown = Object.getPrototypeOf(context);
  return prototype === Object.prototype || prototype === null
    ? context
    : { ...context, targetingKey: context.targetingKey };
};

/** The member of the context that an attribute is, if a context of own members can be asked for it as it is. */
export const memberNameOf = (attribute: string): string | undefined => {
  const top = topNameOf(attribute);
  // Every object inherits something of these names.
  return top === undefined || top in Object.prototype ? undefined : top;
};
