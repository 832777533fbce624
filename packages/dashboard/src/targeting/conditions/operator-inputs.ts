// Which input an operator needs, and what stays of a condition when its operator changes.
import type { AttributeCondition, Scalar } from "@halyard/core/targeting/conditions/operators";
import { operatorNamed } from "@halyard/core/targeting/conditions/operators";

export type InputKind =
  | "scalars"
  | "texts"
  | "networks"
  | "number"
  | "version"
  | "moment"
  | "presence"
  /** Of an operator that a newer version has: as JSON only. */
  | "unknown";

export const inputOf = (op: string): InputKind => {
  if (operatorNamed(op) === undefined) return "unknown";
  if (op === "in" || op === "notIn") return "scalars";
  if (op === "inCidr") return "networks";
  if (op === "exists") return "presence";
  if (op === "before" || op === "after") return "moment";
  if (op.startsWith("semver")) return "version";
  return operatorNamed(op)?.members.includes("as?") === true ? "number" : "texts";
};

/** Whether the operator can be given the member, such as `ignoreCase`. */
export const mayHave = (op: string, member: string): boolean =>
  operatorNamed(op)?.members.some((name) => name.replace("?", "") === member) === true;

const ownMembers = ["value", "values", "ignoreCase", "as"] as const;

const initialOf = (kind: InputKind): Partial<AttributeCondition> => {
  if (kind === "presence") return { value: true };
  return kind === "scalars" || kind === "texts" || kind === "networks" ? { values: [] } : {};
};

/** Between operators of the same input everything stays; between lists of texts, the values. */
export const withOperator = (condition: AttributeCondition, op: string): AttributeCondition => {
  const [from, to] = [inputOf(condition.op), inputOf(op)];
  if (from === to) return { ...condition, op };
  const rest: Record<string, unknown> = { ...condition, op };
  const areTexts = condition.values?.every((value) => typeof value === "string") === true;
  const keepsValues = areTexts && mayHave(condition.op, "values") && mayHave(op, "values");
  for (const member of ownMembers) {
    if (!mayHave(op, member) || (member !== "ignoreCase" && !keepsValues)) delete rest[member];
  }
  if (!keepsValues) Object.assign(rest, initialOf(to));
  return rest as unknown as AttributeCondition;
};

export const scalarTypes = ["string", "number", "boolean"] as const;
export type ScalarType = (typeof scalarTypes)[number];

const plainNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** So many digits of any number in decimal stay as they are. */
const exactDigits = 15;

/** The number that the text writes; undefined when it is none, or would be another one. */
const numberOf = (text: string): number | undefined => {
  if (!plainNumber.test(text)) return undefined;
  const value = Number(text);
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(value) ? value : undefined;
  const [mantissa = ""] = text.split(/[eE]/);
  const digits = mantissa.replace(/[-.]/g, "").replace(/^0+|0+$/g, "");
  const isExact = digits.length <= exactDigits && (value === 0) === (digits === "");
  return isExact && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : undefined;
};

const readAs = (text: string, type: ScalarType): Scalar => {
  if (type === "number") return numberOf(text) ?? text;
  return type === "boolean" && (text === "true" || text === "false") ? text === "true" : text;
};

/** The values as values of the type. What cannot be of it stays a text, to be corrected; what was of it before stays as it was. */
export const asType = (
  values: readonly Scalar[],
  type: ScalarType,
  before: readonly Scalar[] = [],
): readonly Scalar[] => {
  const known = new Map(
    before.filter((value) => typeof value === type).map((value) => [String(value), value]),
  );
  return values.map((value) => known.get(String(value)) ?? readAs(String(value), type));
};

/** Values other than texts say it themselves; texts may be meant as the type that was chosen. */
export const typeOfValues = (values: readonly Scalar[], chosen: ScalarType): ScalarType =>
  scalarTypes.find((type) => type !== "string" && values.some((value) => typeof value === type)) ??
  chosen;

const notOfType: Readonly<Record<ScalarType, string>> = {
  string: "not a text",
  number: "not a number that can be kept exactly",
  boolean: "neither true nor false",
};

/** What is wrong with the values that are not of the type; undefined when all are. */
export const typeMistake = (values: readonly Scalar[], type: ScalarType): string | undefined => {
  const wrong = values.find((value) => typeof value !== type);
  if (wrong === undefined) return undefined;
  const isNoNumber = type === "number" && !plainNumber.test(String(wrong));
  return `“${wrong}” is ${isNoNumber ? "not a number" : notOfType[type]}.`;
};
