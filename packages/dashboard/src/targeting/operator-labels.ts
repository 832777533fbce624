// The operators in plain words, grouped by what they compare.

interface OperatorGroup {
  readonly group: string;
  /** Each follows the attribute in a sentence. */
  readonly labels: Readonly<Record<string, string>>;
}

export const operatorGroups: readonly OperatorGroup[] = [
  { group: "Same value", labels: { in: "is one of", notIn: "is none of" } },
  { group: "Known or not", labels: { exists: "is known" } },
  {
    group: "Text",
    labels: { startsWith: "starts with", endsWith: "ends with", contains: "contains" },
  },
  {
    group: "Number",
    labels: { lt: "is less than", lte: "is at most", gt: "is more than", gte: "is at least" },
  },
  {
    group: "Version",
    labels: {
      semverEq: "is version",
      semverLt: "is below version",
      semverLte: "is at most version",
      semverGt: "is above version",
      semverGte: "is at least version",
    },
  },
  { group: "Time", labels: { before: "is before", after: "is after" } },
  { group: "Network address", labels: { inCidr: "is in the network" } },
];

const labels: Readonly<Record<string, string>> = Object.assign(
  {},
  ...operatorGroups.map((each) => each.labels),
);

/** Of an operator that a newer version has, its name. */
export const labelOfOperator = (name: string): string =>
  Object.hasOwn(labels, name) ? (labels[name] ?? name) : name;
