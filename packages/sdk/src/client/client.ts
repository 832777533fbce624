// The client for programs with a server key: keeps every flag of the environment and evaluates in memory.
import type { EvaluationContext } from "@halyard/core/context";
import {
  type EvaluatedFlag,
  type Evaluation,
  evaluate,
  type FlagValue,
} from "@halyard/core/evaluate";
import {
  type Details,
  failedDetails,
  isLike,
  mismatch,
  notFound,
  notListed,
  notReady,
} from "../details.ts";
import { parseSnapshot } from "../environment-stream/environment-events.ts";
import { createTracking, type TrackDetails } from "../tracking.ts";
import type { Server } from "../transport/address.ts";
import { asyncDispose } from "../transport/async-dispose.ts";
import { checkClientOptions } from "../transport/check-options.ts";
import { createConnectionState } from "../transport/connection-state.ts";
import { createEvaluationErrors } from "../transport/evaluation-errors.ts";
import { standardTiming, type Timing } from "../transport/timing.ts";
import { createTally, startUsageReport } from "../transport/usage-report.ts";
import { warnWith } from "../transport/warn.ts";
import { startAppliedReport } from "./applied-report.ts";
import { createIdentity } from "./client-identity.ts";
import {
  type Client,
  type ClientOptions,
  type CreateClient,
  clientOptionKinds,
} from "./client-options.ts";
import { isStrict, serverOf } from "./client-server.ts";
import { type CachedFlags, checkCache, createFlagCache } from "./flag-cache.ts";
import { takeCounts } from "./flag-counts.ts";
import { createFlagTable, type FlagEntry } from "./flag-table.ts";
import { createVersions } from "./flag-versions.ts";
import { followFlags } from "./follow-flags.ts";
import { copyOf, noContext, readable, targetingKeyOf } from "./readable-context.ts";
import { createReportedContexts } from "./reported-contexts.ts";
import { checkRuntime } from "./request-runtime.ts";
import { contentOf, flagsOf, segmentsOf, withLevel } from "./snapshot-flags.ts";

/** A context that throws when it is read counts as empty. */
const evaluateEntry = (
  { prepared }: FlagEntry,
  context: EvaluationContext | undefined,
): Evaluation => {
  if (prepared.fixed !== undefined) return prepared.fixed;
  try {
    return evaluate(prepared, readable(context ?? noContext));
  } catch {
    return evaluate(prepared, noContext);
  }
};

export const createClient: CreateClient = (options: ClientOptions): Client => {
  checkClientOptions(options, clientOptionKinds);
  checkCache(options.cache);
  const server = serverOf(options);
  const obstacle = server && checkRuntime(options.log);
  const strict = isStrict(options.strict, server);
  const timing: Timing = { ...standardTiming, ...options.timing };
  const warn = warnWith(options.log, server?.base ?? "");
  const connection = createConnectionState(warn, timing);
  const { exposed } = connection;
  const tally = createTally();
  const observeErrors = createEvaluationErrors(tally, warn.evaluationFailed);
  const tracking = createTracking(options, warn.listenerFailed);
  if (obstacle !== undefined) connection.lost(obstacle);
  const table = createFlagTable();
  const { entries } = table;
  let versions = createVersions(undefined);
  let known = server === undefined;
  let fromServer = false;

  const apply = (change: () => string[]) => {
    const wasKnown = known;
    known = true;
    const keys = change();
    // The first flags are not a change.
    if (wasKnown) connection.changed(keys);
    return keys.length > 0;
  };
  /** Applies the flags of `bootstrap` or `cache`. */
  const applyKnown = ({ flags, segments }: CachedFlags) => {
    apply(() => table.replace(flags, segments));
    if (entries.size > 0) connection.known();
  };

  if (options.bootstrap !== undefined) {
    const snapshot = parseSnapshot(options.bootstrap);
    versions = createVersions(snapshot);
    applyKnown(contentOf(options.bootstrap, snapshot));
  }
  for (const [key, value] of Object.entries(options.overrides ?? {})) table.override(key, value);
  const cache =
    options.cache &&
    createFlagCache(
      options.cache,
      () => {
        const segments = table.segments();
        return { flags: table.flags(), ...(segments.length > 0 && { segments }) };
      },
      connection.failed,
    );
  void cache?.load().then((cached) => {
    // The server's flags may have arrived first.
    if (cached === undefined || fromServer) return;
    versions = createVersions(undefined);
    applyKnown(cached);
  });

  /** Undefined if no request can be sent: a Worker must not even create timers or ids while its modules load. */
  const reachable = obstacle === undefined ? server : undefined;
  const stop = reachable && new AbortController();
  const applyFromServer = (change: () => string[]) => {
    const first = !fromServer;
    fromServer = true;
    if (apply(change) || first) cache?.save();
  };
  const identity =
    reachable === undefined || options.reportApplied === false
      ? undefined
      : createIdentity(options.name);
  const applied = reachable && identity && startAppliedReport(reachable, timing, identity);
  const follow = (from: Server, signal: AbortSignal) =>
    followFlags({
      server: from,
      clientId: identity?.id,
      timing,
      streaming: options.streaming ?? true,
      signal,
      onSnapshot(snapshot) {
        versions = createVersions(snapshot);
        applyFromServer(() => table.replace(flagsOf(snapshot), segmentsOf(snapshot)));
      },
      onChange(change) {
        versions.change(change);
        const { kind, key, value, level } = change;
        applyFromServer(() =>
          kind === "flag"
            ? table.change(key, value && withLevel(value, level))
            : table.changeSegment(key, value),
        );
      },
      onApplied: applied?.applied,
      onStream: applied?.connected,
      onLive: connection.live,
      onLost: connection.lost,
    });
  // Without a server, it is ready as soon as the application has added its listeners.
  const following = stop
    ? follow(reachable, stop.signal)
    : Promise.resolve(obstacle).then((problem) => problem ?? connection.live());
  const contexts =
    reachable && options.sampleContexts === true ? createReportedContexts() : undefined;
  const usage =
    reachable === undefined || options.reportUsage === false
      ? undefined
      : startUsageReport(
          reachable,
          timing,
          () => [...takeCounts(entries.values()), ...tally.take()],
          () => {
            const sample = contexts?.take() ?? [];
            return { client: applied?.current(), ...(sample.length > 0 && { contexts: sample }) };
          },
        );

  const resultFor = (
    key: string,
    entry: FlagEntry | undefined,
    context: EvaluationContext | undefined,
  ): Evaluation | undefined => {
    const result = table.overridden(key) ?? (entry && evaluateEntry(entry, context));
    if (result === undefined && strict) throw notListed(key);
    return result;
  };

  const evaluated = <Value extends FlagValue>(
    key: string,
    context: EvaluationContext | undefined,
    fallback: Value,
  ): Details<Value> => {
    const entry = entries.get(key);
    const result = resultFor(key, entry, context);
    if (result === undefined) {
      return known ? notFound(fallback, key) : notReady(fallback, exposed.error);
    }
    contexts?.offer(context ?? noContext);
    if ("errorCode" in result) {
      return failedDetails(fallback, result.errorCode, result.errorDetails);
    }
    if (!isLike(result.value, fallback)) return mismatch(fallback, key, result.value);
    if (table.overridden(key) === undefined) entry?.count(result);
    return result as EvaluatedFlag & { readonly value: Value };
  };

  const close = async (): Promise<void> => {
    if (exposed.state === "closed") return;
    connection.close();
    stop?.abort();
    await Promise.all([...[following, usage?.close()], ...[applied?.close(), cache?.settled()]]);
  };

  const flagMetadata = (key: string) =>
    table.overridden(key) === undefined ? versions.metadataOf(key) : undefined;

  const details = (
    key: string,
    context?: EvaluationContext,
    fallback: FlagValue = false,
  ): Details<FlagValue> => {
    const result = evaluated(key, context, fallback);
    // Before the server's flags are loaded, a key may only be missing from the bootstrap or the cache.
    if (fromServer && table.overridden(key) === undefined) observeErrors(key, result);
    const targetingKey = tracking && targetingKeyOf(context);
    if (targetingKey !== undefined) {
      tracking?.remember(targetingKey, key, result, flagMetadata(key));
    }
    return result;
  };

  const valueFor = (key: string, context: EvaluationContext, fallback: FlagValue): FlagValue =>
    details(key, context, fallback).value;

  return Object.assign(exposed, {
    flags: table.flags,
    flagMetadata,
    override(key: string, value: FlagValue | undefined) {
      connection.changed(table.override(key, value));
    },
    // Doesn't use `details` for the usual case: this is the call that programs make most.
    isEnabled(key: string, context?: EvaluationContext, fallback = false) {
      const override = table.overridden(key);
      const entry = entries.get(key);
      const result = tracking ? undefined : (override ?? (entry && evaluateEntry(entry, context)));
      if (!result || "errorCode" in result || typeof result.value !== "boolean") {
        return details(key, context, fallback).value;
      }
      contexts?.offer(context ?? noContext);
      if (override === undefined) entry?.count(result);
      return result.value;
    },
    stringValue: valueFor,
    numberValue: valueFor,
    objectValue: valueFor,
    details,
    values: (context: EvaluationContext, keys = table.keys()) =>
      Object.fromEntries(
        keys.flatMap((key) => {
          const result = resultFor(key, entries.get(key), context);
          return result !== undefined && "value" in result ? [[key, result.value]] : [];
        }),
      ),
    track(name: string, context: EvaluationContext, trackDetails: TrackDetails = {}) {
      const event = { name, context: copyOf(context), details: { ...trackDetails } };
      tracking?.track(targetingKeyOf(context), event);
    },
    close,
    [asyncDispose]: close,
  }) as Client;
};
