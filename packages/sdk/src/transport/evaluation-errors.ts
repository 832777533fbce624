// Counts evaluations of keys without a flag, and of flags of another type, and warns once for each key.
import { isFlagKey } from "@halyard/core/flags/rules";
import type { Details } from "../details.ts";
import type { Counter } from "./usage-report.ts";
import type { Warnings } from "./warn.ts";

/** A program that makes keys up, such as one for each user, must not fill its memory and the server's. */
const maxKeys = 100;

export interface EvaluationErrors {
  /** The server's flags are loaded: before, a key may only be missing from a bootstrap or a cache. */
  start(): void;
  /** Counts the result if it is one of these errors. */
  observe(key: string, result: Pick<Details, "errorCode" | "errorMessage">): void;
  /** For a report of their own: a server that doesn't know errors rejects that one alone. */
  readonly counters: () => Iterable<Counter>;
}

export const createEvaluationErrors = (warn: Warnings["evaluationFailed"]): EvaluationErrors => {
  const counters = new Map<string, Counter>();
  let hasStarted = false;
  return {
    start() {
      hasStarted = true;
    },
    observe(key, { errorCode, errorMessage = "" }) {
      if (!hasStarted || (errorCode !== "FLAG_NOT_FOUND" && errorCode !== "TYPE_MISMATCH")) return;
      const name = `${errorCode} ${key}`;
      let counter = counters.get(name);
      if (counter === undefined) {
        if (counters.size >= maxKeys) return;
        counter = { key, on: 0, off: 0, errorCode };
        counters.set(name, counter);
        warn({ code: errorCode, message: errorMessage });
      }
      counter.on += 1;
    },
    // No flag can have another key, and the server would reject the whole report.
    counters: () => [...counters.values()].filter(({ key }) => isFlagKey(key)),
  };
};
