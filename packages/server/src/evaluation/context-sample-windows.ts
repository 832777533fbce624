// The sample of one process: for each environment the contexts of this hour and of the hour before, within bounds of memory.
import type { EvaluationContext } from "@halyard/core/context";
import { boundedContext } from "@halyard/core/sampling/bounded-context";
import { createContextHash } from "@halyard/core/sampling/context-hash";
import { mergeRanges, SmallestHashes } from "@halyard/core/sampling/smallest-hashes";
import type { Clock } from "../platform/database/store.ts";
import { type ContextSample, type SamplePart, viewOf } from "./context-sample.ts";

/** The sample of one process. */
export interface OwnContextSample extends ContextSample {
  /** What this process has, to be merged with what others have; undefined when sampling is off. */
  part(environmentId: number): SamplePart | undefined;
  /** Of all environments, as they are accounted for. */
  bytes(): number;
  close(): void;
}

export interface ContextSampleSettings {
  /** Contexts that a view holds at most; 0 turns sampling off. */
  readonly size: number;
  /** The same for all instances: they choose the same contexts, so that their samples merge. */
  readonly secret: string;
  readonly clock: Clock;
  /** The parts of all workers, this one among them. */
  readonly parts?: ((environmentId: number) => Promise<readonly SamplePart[]>) | undefined;
}

/** Milliseconds. The sample is of this window and the one before it. */
export const windowLength = 3_600_000;
/** Milliseconds: how soon a window that is over is noticed. */
const windowCheck = 1_000;

const mebibyte = 1_048_576;
/** Of one window of one environment: with the other window 16 MiB. Anybody can send contexts with a client key, so theirs have a quarter. */
const maxBytes = { clients: 2 * mebibyte, others: 6 * mebibyte } as const;
/** Places for the latest that were found in the sample: two for each of its contexts by default. */
const latestPlaces = 32_768;
/** Of all environments of a process. */
export const maxTotalBytes = 64 * mebibyte;

interface Window {
  readonly clients: SmallestHashes;
  readonly others: SmallestHashes;
}

interface Windows {
  current: Window;
  previous: Window;
}

export const createContextSample = (settings: ContextSampleSettings): OwnContextSample => {
  const { size, clock } = settings;
  if (size === 0) return noSample;
  const hashOf = createContextHash(settings.secret);
  const environments = new Map<number, Windows>();
  const begun = clock().getTime();
  let windowNumber = Math.floor(begun / windowLength);
  let bytes = 0;
  let lastId: number | undefined;
  let last: Windows | undefined;
  /** Most of those that come are known already, and to find them in the sample costs more than all else. */
  const latest = new Int32Array(latestPlaces);

  const newWindow = (): Window => ({
    clients: new SmallestHashes(size, maxBytes.clients),
    others: new SmallestHashes(size, maxBytes.others),
  });

  const pools = function* () {
    for (const { current, previous } of environments.values()) {
      yield* [current.clients, current.others, previous.clients, previous.others];
    }
  };
  const recount = () => {
    bytes = 0;
    for (const pool of pools()) bytes += pool.bytes;
  };

  /** All windows begin at whole hours, so that those of several instances are the same. */
  const moveWindows = () => {
    const number = Math.floor(clock().getTime() / windowLength);
    // A clock that is put back across the hour by a moment must not cost the whole sample.
    if (number === windowNumber || number === windowNumber - 1) return;
    const isNext = number === windowNumber + 1;
    windowNumber = number;
    latest.fill(0);
    for (const [id, windows] of environments) {
      windows.previous = isNext ? windows.current : newWindow();
      windows.current = newWindow();
      const { clients, others } = windows.previous;
      if (clients.size + others.size === 0) environments.delete(id);
    }
    last = undefined;
    recount();
  };
  const timer = setInterval(moveWindows, windowCheck).unref();

  /** The largest gives way, so that an environment with few contexts keeps them. */
  const fitTotal = () => {
    while (bytes > maxTotalBytes) {
      const largest = [...pools()].reduce((one, other) => (other.bytes > one.bytes ? other : one));
      largest.shrinkTo(Math.floor(largest.bytes * 0.875));
      recount();
    }
  };

  const windowsOf = (environmentId: number): Windows => {
    let windows = environments.get(environmentId);
    if (windows === undefined) {
      windows = { current: newWindow(), previous: newWindow() };
      environments.set(environmentId, windows);
    }
    return windows;
  };

  /** For the few that may belong into the sample and are not known to be there. */
  const consider = (
    environmentId: number,
    hash: number,
    context: EvaluationContext,
    fromClient: boolean,
  ) => {
    moveWindows();
    const { current } = windowsOf(environmentId);
    const pool = fromClient ? current.clients : current.others;
    if (!pool.wants(hash)) return;
    const before = pool.bytes;
    pool.add(hash, boundedContext(context));
    bytes += pool.bytes - before;
    fitTotal();
  };

  const part = (environmentId: number): SamplePart => {
    moveWindows();
    const { current, previous } = windowsOf(environmentId);
    const merge = (kind: keyof Window) =>
      mergeRanges([previous[kind].range(), current[kind].range()], size);
    return {
      clients: merge("clients"),
      others: merge("others"),
      since: Math.max(begun, (windowNumber - 1) * windowLength),
      until: clock().getTime(),
    };
  };

  return {
    offer(environmentId, context, fromClient) {
      const hash = hashOf(context);
      if (hash === undefined) return;
      if (environmentId !== lastId || last === undefined) {
        last = windowsOf(environmentId);
        lastId = environmentId;
      }
      const pool = fromClient ? last.current.clients : last.current.others;
      if (hash >= pool.limit) return;
      const name = hash ^ Math.imul(2 * environmentId + (fromClient ? 1 : 0), 0x9e3779b1);
      const place = name & (latestPlaces - 1);
      if (latest[place] === name) return;
      consider(environmentId, hash, context, fromClient);
      latest[place] = name;
    },
    part,
    bytes: () => bytes,
    async view(environmentId) {
      const parts = (await settings.parts?.(environmentId)) ?? [];
      return viewOf(parts.length > 0 ? parts : [part(environmentId)], size);
    },
    forget(environmentId) {
      environments.delete(environmentId);
      last = undefined;
      latest.fill(0);
      recount();
    },
    close: () => clearInterval(timer),
  };
};

const noSample: OwnContextSample = {
  offer() {},
  part: () => undefined,
  bytes: () => 0,
  view: async () => undefined,
  forget() {},
  close() {},
};
