// The difference between two versions of a flag, line by line: one for a field, a rule or a requirement.
import { changeableMembers, difference } from "@halyard/core/difference";
import type { Flag } from "@halyard/core/flags/registry";
import { type LineChange, requirementsDiff, rulesDiff } from "../../targeting/rules/rules-diff.ts";
import { memberText } from "./flag-change.ts";

/** What stayed the same is left out. Null is a flag that does not exist. */
export const diffOf = (before: Flag | null, after: Flag | null): readonly LineChange[] => {
  const either = after ?? before;
  if (either === null) return [];
  const fields =
    before !== null && after !== null
      ? difference(before, after).map(({ member }) => member)
      : ["type", ...changeableMembers(either.type)];
  return fields
    .flatMap((field): readonly LineChange[] => {
      if (field === "rules") return rulesDiff(before?.rules, after?.rules);
      if (field === "requires") return requirementsDiff(before?.requires, after?.requires);
      return [
        {
          field,
          before: before === null ? undefined : memberText(before, field),
          after: after === null ? undefined : memberText(after, field),
        },
      ];
    })
    .filter((change) => change.before !== undefined || change.after !== undefined);
};
