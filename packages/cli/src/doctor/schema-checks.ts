// Checks that the schema contains nothing that Halyard did not create, and no modified parts.
import type { SchemaDifference } from "@halyard/server/operator/doctor";
import { type Check, counted, fail, warn } from "./check.ts";

const nameOf = ({ type, name, table }: SchemaDifference): string =>
  `the ${type} "${name}"${table === name ? "" : ` on "${table}"`}`;

/** Objects that run by themselves at every write. */
const acts = ({ type }: SchemaDifference): boolean => type === "trigger" || type === "rule";

const alarming = (difference: SchemaDifference): Check => {
  const what = nameOf(difference);
  const { kind, type, name, table } = difference;
  if (kind === "foreign") {
    return fail(
      "database",
      `${what} is not Halyard's, and can change or leak data at every write`,
      `find out who created it, and check the keys with halyard keys list; then drop ${type} ${name}${table === name ? "" : ` on ${table}`}`,
    );
  }
  return fail(
    "database",
    `${what} is ${kind === "missing" ? "missing" : "different from Halyard's schema"}`,
    "find out who changed the schema, and restore a backup from before",
  );
};

/** Maximum names in one line. */
const mostNames = 5;

/** `elsewhere` says where objects of other programs belong. */
export const schemaDifferenceChecks = (
  differences: readonly SchemaDifference[],
  elsewhere: string,
): Check[] => {
  const isAlarming = (each: SchemaDifference) => each.kind !== "foreign" || acts(each);
  const others = differences.filter((each) => !isAlarming(each));
  const named = others.slice(0, mostNames).map(nameOf).join(", ");
  const more = others.length > mostNames ? ` and ${others.length - mostNames} more` : "";
  return [
    ...differences.filter(isAlarming).map(alarming),
    ...(others.length > 0
      ? [
          warn(
            "database",
            `${counted(others.length, "object")} in the schema ${others.length === 1 ? "is" : "are"} not Halyard's: ${named}${more}`,
            elsewhere,
          ),
        ]
      : []),
  ];
};
