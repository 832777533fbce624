// Counts evaluations that fail because no flag has the key, or because the program expects another type. Warns once for each key.
import type { Details } from "../details.ts";
import type { Counted, Tally } from "./usage-report.ts";
import type { Warnings } from "./warn.ts";

/** The server rejects a report with a longer key, which no flag can have. */
const longestKey = 128;
/** Protects the memory of the client and the server from programs that generate keys, such as one for each user. */
const maxKeys = 100;

/** Counts the result if it is one of these errors. */
export type ObserveErrors = (
  key: string,
  result: Pick<Details, "errorCode" | "errorMessage">,
) => void;

export const createEvaluationErrors = (
  tally: Tally,
  warn: Warnings["evaluationFailed"],
): ObserveErrors => {
  const seen = new Map<string, Counted>();
  return (given, { errorCode: code, errorMessage: message = "" }) => {
    if (code !== "FLAG_NOT_FOUND" && code !== "TYPE_MISMATCH") return;
    // At run time a key can be anything.
    const key = String(given);
    const id = `${code} ${key}`;
    let counted = seen.get(id);
    if (!counted) {
      if (seen.size >= maxKeys) return;
      counted = (count) => ({ key, on: 0, off: 0, errors: { [code]: count } });
      seen.set(id, counted);
      warn({ code, message });
    }
    if (key.length <= longestKey) tally.add(counted);
  };
};
