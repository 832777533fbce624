// Checks that the hash chains of the stored histories are valid.
import type { Inspected } from "@halyard/server/operator/doctor";
import { type Check, counted, fail, orOk, warn } from "./check.ts";

export const historyChecks = ({ histories }: Pick<Inspected, "histories">): Check[] => {
  const problems = histories.flatMap(
    ({ environment, problems: found, problemCount, ...history }) => {
      const [first] = found;
      const more =
        problemCount > 1 ? `, and ${counted(problemCount - 1, "more integrity failure")}` : "";
      return [
        ...(first
          ? [
              fail(
                "history",
                `the history of ${environment} is not valid: ${first.message}${more}`,
                "the database was modified: compare it with a backup and with events that receivers kept (halyard history verify --events)",
              ),
            ]
          : []),
        ...(history.uncheckedSignatures > 0
          ? [
              warn(
                "history",
                `${counted(history.uncheckedSignatures, "checkpoint")} of the history of ${environment} can't be checked`,
                "add the secret key that signed them to HALYARD_SECRET_KEY, and run halyard secrets reencrypt",
              ),
            ]
          : []),
      ];
    },
  );
  const entries = histories.reduce((sum, history) => sum + history.entries, 0);
  return orOk(problems, "history", `${counted(entries, "entry", "entries")}, chained without gaps`);
};
