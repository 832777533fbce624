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

export const isNumberText = (text: string): boolean =>
  text.trim() !== "" && Number.isFinite(Number(text));

/** The values as values of another type, those that can be. */
export const asType = (values: readonly Scalar[], type: ScalarType): readonly Scalar[] => {
  if (type === "string") return values.map(String);
  if (type === "number") {
    return values.filter((value) => isNumberText(String(value))).map(Number);
  }
  return values
    .filter((value) => String(value) === "true" || String(value) === "false")
    .map((value) => String(value) === "true");
};
