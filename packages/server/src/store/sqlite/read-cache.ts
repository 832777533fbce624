// Answers that are asked for again and again, kept for as long as nobody has committed anything.
import type { VersionedFlag } from "../../domain/change.ts";
import type { Reader, Soon } from "../../ports.ts";

const maxKept = 10_000;

/**
 * `version` changes with every commit of any other connection, those of other processes included. What is kept was read
 * at or after the version it is kept for, so that an answer is never older than the last commit.
 */
export const rememberWhileUnchanged = <Reads extends Reader>(
  reads: Reads,
  version: () => number,
): Reads => {
  const revisions = new Map<number, number>();
  const flags = new Map<number, Map<string, VersionedFlag>>();
  let keptFor = Number.NaN;
  let kept = 0;
  let hasLooked = false;

  /**
   * Forgets what is kept unless it still holds. One look does for all that is asked without waiting in between: what
   * somebody commits meanwhile is not older than any of those questions.
   */
  const look = (): void => {
    if (hasLooked) return;
    const current = version();
    hasLooked = true;
    queueMicrotask(lookAgain);
    if (current === keptFor && kept < maxKept) return;
    revisions.clear();
    flags.clear();
    keptFor = current;
    kept = 0;
  };

  const lookAgain = (): void => {
    hasLooked = false;
  };

  const keep = async <T>(read: Promise<T>, put: (value: T & {}) => void): Promise<T> => {
    const readFor = keptFor;
    const value = await read;
    if (value !== undefined && value !== null && keptFor === readFor) {
      put(value);
      kept += 1;
    }
    return value;
  };

  return {
    ...reads,
    revision(environmentId) {
      look();
      const known = revisions.get(environmentId);
      if (known !== undefined) return known;
      return keep(promised(reads.revision(environmentId)), (revision) => {
        revisions.set(environmentId, revision);
      });
    },
    flag(environmentId, key) {
      look();
      const known = flags.get(environmentId)?.get(key);
      if (known) return known;
      return keep(promised(reads.flag(environmentId, key)), (flag) => {
        const ofEnvironment = flags.get(environmentId) ?? new Map<string, VersionedFlag>();
        flags.set(environmentId, ofEnvironment.set(key, flag));
      });
    },
  };
};

const promised = <T>(value: Soon<T>): Promise<T> =>
  value instanceof Promise ? value : Promise.resolve(value);
