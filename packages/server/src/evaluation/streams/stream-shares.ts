// The places for streams: nobody takes those of the others, neither an environment nor a single key.
import { type Failure, fail, ok, type Result } from "../../platform/errors.ts";

export interface StreamLimits {
  /** Streams that may be open at once. */
  readonly maxStreams: number;
  /** Of them, those of one environment and of one key. */
  readonly maxStreamsPerEnvironment: number;
  readonly maxStreamsPerKey: number;
}

/** Of the connections of a process. The rest is for requests, other environments and other keys. */
export const streamLimitsOf = (maxConnections: number): StreamLimits => ({
  maxStreams: Math.ceil(maxConnections * 0.8),
  maxStreamsPerEnvironment: Math.ceil(maxConnections * 0.6),
  maxStreamsPerKey: Math.ceil(maxConnections * 0.4),
});

export interface StreamHolder {
  readonly environmentId: number;
  readonly keyId: string;
}

export interface StreamShares {
  /** Whether this holder may open one more now. */
  admit(holder: StreamHolder): Result<undefined>;
  /** Takes a place; the function that it returns gives it back. */
  take(holder: StreamHolder): () => void;
}

const full: Failure = {
  code: "UNAVAILABLE",
  message:
    "This server has reached its limit of event streams; try again later, or on another instance.",
};
const tooMany = (who: string, limit: number): Failure => ({
  code: "RATE_LIMITED",
  message: `${who} has ${limit} event streams open on this server, the maximum; close some, or try again later.`,
});

/** Counts by name; a name without any is forgotten. */
const createCounts = <Name>() => {
  const counts = new Map<Name, number>();
  const of = (name: Name): number => counts.get(name) ?? 0;
  return {
    of,
    add(name: Name, number: 1 | -1): void {
      const count = of(name) + number;
      if (count === 0) counts.delete(name);
      else counts.set(name, count);
    },
  };
};

export const createStreamShares = (limits: StreamLimits): StreamShares => {
  const environments = createCounts<number>();
  const keys = createCounts<string>();
  let all = 0;

  const count = ({ environmentId, keyId }: StreamHolder, number: 1 | -1): void => {
    all += number;
    environments.add(environmentId, number);
    keys.add(keyId, number);
  };

  return {
    admit({ environmentId, keyId }) {
      const { maxStreams, maxStreamsPerEnvironment, maxStreamsPerKey } = limits;
      if (keys.of(keyId) >= maxStreamsPerKey) {
        return fail(tooMany("This API key", maxStreamsPerKey));
      }
      if (environments.of(environmentId) >= maxStreamsPerEnvironment) {
        return fail(tooMany("This environment", maxStreamsPerEnvironment));
      }
      return all < maxStreams ? ok(undefined) : fail(full);
    },
    take(holder) {
      count(holder, 1);
      return () => count(holder, -1);
    },
  };
};
