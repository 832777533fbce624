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
  type ReadOnly,
  type Widened,
} from "../details.ts";
import { parseSnapshot } from "../environment-stream/environment-events.ts";
import { createTracking } from "../tracking.ts";
import type { Server } from "../transport/address.ts";
import { asyncDispose } from "../transport/async-dispose.ts";
import { checkClientOptions } from "../transport/check-options.ts";
import { type ClientEvents, createConnectionState } from "../transport/connection-state.ts";
import { createEvaluationErrors } from "../transport/evaluation-errors.ts";
import { createListeners } from "../transport/listeners.ts";
import { standardTiming, type Timing } from "../transport/timing.ts";
import { startUsageReport } from "../transport/usage-report.ts";
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
import { createFlagTable, type FlagEntry } from "./flag-table.ts";
import { createVersions } from "./flag-versions.ts";
import { followFlags } from "./follow-flags.ts";
import { noContext, readable, targetingKeyOf } from "./readable-context.ts";
import { createReportedContexts } from "./reported-contexts.ts";
import { checkRuntime } from "./request-runtime.ts";
import { contentOf, flagsOf, segmentsOf, withLevel } from "./snapshot-flags.ts";

type ObjectValue = Readonly<Record<string, unknown>>;

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
  const listeners = createListeners<ClientEvents>(warn.listenerFailed);
  const connection = createConnectionState(listeners, warn.problem, timing);
  const errors = createEvaluationErrors(warn.evaluationFailed);
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
    if (keys.length === 0 || !wasKnown) return keys.length > 0;
    listeners.emit("change", { keys });
    return true;
  };
  /** From `bootstrap` or `cache`; without a flag, they leave nothing to evaluate. */
  const applyKnown = ({ flags, segments }: CachedFlags) => {
    apply(() => table.replace(flags, segments));
    if (entries.size > 0) connection.known();
  };

  if (options.bootstrap !== undefined) {
    versions = createVersions(parseSnapshot(options.bootstrap));
    applyKnown(contentOf(options.bootstrap));
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
      (error) => listeners.emit("error", { error }),
    );
  void cache?.load().then((cached) => {
    // The server's flags may have arrived first.
    if (cached === undefined || fromServer) return;
    versions = createVersions(undefined);
    applyKnown(cached);
  });

  /** Undefined also where no request can be sent: a Worker that loads must not even create what follows. */
  const reachable = obstacle === undefined ? server : undefined;
  const stop = reachable && new AbortController();
  const applyFromServer = (change: () => string[]) => {
    const first = !fromServer;
    fromServer = true;
    errors.start();
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
  // Without a server it is ready at once, after the application has added its listeners.
  const following = stop
    ? follow(reachable, stop.signal)
    : Promise.resolve(obstacle).then((problem) => problem ?? connection.live());
  const contexts =
    reachable && options.sampleContexts === true ? createReportedContexts() : undefined;
  const usage =
    reachable === undefined || options.reportUsage === false
      ? undefined
      : startUsageReport(reachable, timing, () => entries.values(), {
          contexts: contexts?.take,
          client: applied?.current,
        });

  const errorReport =
    usage &&
    server &&
    startUsageReport(server, timing, errors.counters, { client: applied?.known });
  const tracking = createTracking(options, warn.listenerFailed);

  const resultFor = (key: string, context: EvaluationContext): Evaluation | undefined => {
    const entry = entries.get(key);
    if (entry !== undefined) return evaluateEntry(entry, context);
    if (strict) throw notListed(key);
    return undefined;
  };

  const evaluated = <Value extends FlagValue>(
    key: string,
    context: EvaluationContext | undefined,
    fallback: Value,
  ): Details<Value> => {
    const override = table.overridden(key);
    const entry = entries.get(key);
    if (override === undefined && entry === undefined) {
      if (strict) throw notListed(key);
      return known ? notFound(fallback, key) : notReady(fallback, connection.error);
    }
    const result = override ?? evaluateEntry(entry as FlagEntry, context);
    contexts?.offer(context ?? noContext);
    if ("errorCode" in result) {
      return failedDetails(fallback, result.errorCode, result.errorDetails);
    }
    if (!isLike(result.value, fallback)) return mismatch(fallback, key, result.value);
    if (override === undefined) entry?.count(result);
    return result as EvaluatedFlag & { readonly value: Value };
  };

  const close = async (): Promise<void> => {
    if (connection.current === "closed") return;
    connection.close();
    stop?.abort();
    await Promise.all([
      ...[following, usage?.close(), errorReport?.close()],
      ...[applied?.close(), cache?.settled()],
    ]);
  };

  const flagMetadata = (key: string) =>
    table.overridden(key) === undefined ? versions.metadataOf(key) : undefined;

  const details = <Value extends FlagValue>(
    key: string,
    context: EvaluationContext | undefined,
    fallback: Value,
  ): Details<Value> => {
    const result = evaluated(key, context, fallback);
    if (table.overridden(key) === undefined) errors.observe(key, result);
    const targetingKey = tracking && targetingKeyOf(context);
    if (targetingKey !== undefined) {
      tracking?.remember(targetingKey, key, result, flagMetadata(key));
    }
    return result;
  };

  return {
    get state() {
      return connection.current;
    },
    get error() {
      return connection.error;
    },
    get transport() {
      return connection.transport;
    },
    get valuesAge() {
      return connection.valuesAge;
    },
    ready: connection.ready,
    on: listeners.on,
    flags: table.flags,
    flagMetadata,
    override(key, value) {
      const keys = table.override(key, value);
      if (keys.length > 0) listeners.emit("change", { keys });
    },
    // Apart from `details`, because a value must cost nothing more here.
    isEnabled(key, context, fallback = false) {
      if (tracking !== undefined) return details(key, context, fallback).value;
      const override = table.overridden(key);
      const entry = entries.get(key);
      if (entry === undefined && override === undefined) {
        return details(key, context, fallback).value;
      }
      const result = override ?? evaluateEntry(entry as FlagEntry, context);
      if ("errorCode" in result || typeof result.value !== "boolean") {
        return details(key, context, fallback).value;
      }
      contexts?.offer(context ?? noContext);
      if (override === undefined) entry?.count(result);
      return result.value;
    },
    stringValue: (key, context, fallback) => details(key, context, fallback).value,
    numberValue: (key, context, fallback) => details(key, context, fallback).value,
    objectValue: <Value extends object>(key: string, context: EvaluationContext, fallback: Value) =>
      details(key, context, fallback as ObjectValue).value as ReadOnly<Value>,
    details: <Value extends FlagValue = boolean>(
      key: string,
      context?: EvaluationContext,
      fallback: Value = false as Value,
    ) => details(key, context, fallback as unknown as Widened<Value>),
    values: (context, keys = table.keys()) =>
      Object.fromEntries(
        keys.flatMap((key) => {
          const result = table.overridden(key) ?? resultFor(key, context);
          return result !== undefined && "value" in result ? [[key, result.value]] : [];
        }),
      ),
    track(name, context, trackDetails = {}) {
      tracking?.track(targetingKeyOf(context), { name, context, details: trackDetails });
    },
    close,
    [asyncDispose]: close,
  };
};
