// Answers that are asked for again and again, kept for as long as nobody has committed anything.
import type { Reader } from "../ports.ts";

const maxKept = 10_000;

/**
 * `version` changes with every commit of any other connection, those of other processes included. What is kept was read
 * at or after the version it is kept for, so that an answer is never older than the last commit.
 */
export const rememberWhileUnchanged = (reads: Reader, version: () => number): Reader => {
  const kept = new Map<string, unknown>();
  let keptFor = Number.NaN;

  const recall = async <T>(name: string, read: () => Promise<T>): Promise<T> => {
    const current = version();
    if (current !== keptFor || kept.size >= maxKept) {
      kept.clear();
      keptFor = current;
    }
    const known = kept.get(name);
    if (known !== undefined) return known as T;
    const answer = await read();
    if (answer !== undefined && keptFor === current) kept.set(name, answer);
    return answer;
  };

  return {
    ...reads,
    revision: (environmentId) =>
      recall(`revision ${environmentId}`, () => reads.revision(environmentId)),
    flag: (environmentId, key) =>
      recall(`flag ${environmentId} ${key}`, () => reads.flag(environmentId, key)),
  };
};
