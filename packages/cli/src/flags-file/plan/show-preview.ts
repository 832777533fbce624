// Shows which users a plan would affect, for a dry run.
import type { Change } from "@halyard/core/plan/plan";
import { previewPlan } from "@halyard/sdk/propose-plan";
import type { Connection } from "../../server-connection/connection.ts";
import { previewLines } from "../../server-connection/preview-text.ts";
import { inOneLine, print } from "../../terminal/output.ts";

/** Errors of keys without permission and of older servers, for which the preview is omitted. */
const hasNone = ["FORBIDDEN", "NOT_FOUND"];

/** Prints the preview, or returns it for JSON. */
export const showPreviews = async (
  { management }: Connection,
  changes: readonly Change[],
  json: boolean,
): Promise<object> => {
  if (changes.length === 0) return {};
  const results = await previewPlan(management, changes);
  if (json) {
    return { previews: results.flatMap((result) => (result.ok ? [result.value] : [])) };
  }
  for (const [index, result] of results.entries()) {
    const part = results.length === 1 ? "" : `Part ${index + 1} of ${results.length}: `;
    if (result.ok) {
      const [first = "", ...rest] = previewLines(result.value);
      print([part + first, ...rest].join("\n"));
    } else if (!hasNone.includes(result.error.code)) {
      print(inOneLine(`${part}Couldn't preview the impact:  ${result.error.message}`));
    }
  }
  return {};
};
