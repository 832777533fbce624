// Checks of the schema: what somebody added to it, or changed in it.
import type { SchemaDifference } from "@halyard/server/operator/doctor";
import { type Check, counted, fail, warn } from "./check.ts";

const nameOf = ({ type, name, table }: SchemaDifference): string =>
  `the ${type} "${name}"${table === name ? "" : ` on "${table}"`}`;

/** What acts by itself at every write. */
const acts = ({ type }: SchemaDifference): boolean => type === "trigger" || type === "rule";

const alarming = (difference: SchemaDifference): Check => {
  const what = nameOf(difference);
  const { kind, type, name, table } = difference;
  if (kind === "foreign") {
    return fail(
      "store",
      `${what} is not Halyard's, and can change or leak data at every write`,
      `find out who created it, and check the keys with halyard keys list; then drop ${type} ${name}${table === name ? "" : ` on ${table}`}`,
    );
  }
  return fail(
    "store",
    `${what} is ${kind === "missing" ? "missing" : "not as Halyard creates it"}`,
    "find out who changed the schema, and restore a backup from before",
  );
};

/** At most so many names in one line. */
const mostNames = 5;

/** `elsewhere` is where other things belong. */
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
            "store",
            `${counted(others.length, "thing")} in the schema ${others.length === 1 ? "is" : "are"} not Halyard's: ${named}${more}`,
            elsewhere,
          ),
        ]
      : []),
  ];
};
