// The client for programs with a server key: keeps every flag of the environment and evaluates in memory.
import type { EvaluationContext } from "@halyard/core/context";
import {
  type EvaluatedFlag,
  type Evaluation,
  evaluate,
  type FlagValue,
} from "@halyard/core/evaluate";
import type { Flag } from "@halyard/core/flags/registry";
import { asJson } from "@halyard/core/targeting/conditions/attribute";
import type { Segment } from "@halyard/core/targeting/segment";
import {
  type Details,
  failedDetails,
  isLike,
  mismatch,
  notFound,
  notReady,
  type Widened,
} from "../details.ts";
import {
  type EnvironmentSnapshot,
  parseSnapshot,
} from "../environment-stream/environment-events.ts";
import { type Address, type Server, serverAt } from "../transport/address.ts";
import { type ClientEvents, createConnectionState } from "../transport/connection-state.ts";
import { createListeners } from "../transport/listeners.ts";
import { standardTiming, type Timing } from "../transport/timing.ts";
import { startUsageReport } from "../transport/usage-report.ts";
import { warnWith } from "../transport/warn.ts";
import { startAppliedReport } from "./applied-report.ts";
import { createIdentity } from "./client-identity.ts";
import type { Client, ClientOptions } from "./client-options.ts";
import { type CachedFlags, createFlagCache } from "./flag-cache.ts";
import { createFlagTable, type FlagEntry, type LeveledFlag } from "./flag-table.ts";
import { createVersions } from "./flag-versions.ts";
import { followFlags } from "./follow-flags.ts";
import { createReportedContexts } from "./reported-contexts.ts";

type ObjectValue = Readonly<Record<string, unknown>>;

const noContext: EvaluationContext = Object.freeze({});

/**
 * At run time a context may be anything. It is read as JSON would carry it, so that the server would answer the same. Nearly
 * every context stays as it is.
 */
const readable = (context: EvaluationContext): EvaluationContext => {
  if (typeof context.targetingKey !== "object" && typeof context.toJSON !== "function")
    return context;
  const given = (asJson(context) ?? noContext) as EvaluationContext;
  const targetingKey = asJson(given.targetingKey, "targetingKey") as string | undefined;
  return { ...given, targetingKey };
};

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

const withLevel = (flag: Flag, level: number | undefined): LeveledFlag =>
  level === undefined ? flag : { ...flag, level };

const flagsOf = ({ entries }: EnvironmentSnapshot): readonly LeveledFlag[] =>
  entries.flatMap(({ kind, value, level }) => (kind === "flag" ? [withLevel(value, level)] : []));

const segmentsOf = ({ entries }: EnvironmentSnapshot): readonly Segment[] =>
  entries.flatMap(({ kind, value }) => (kind === "segment" ? [value] : []));

const contentOf = (bootstrap: unknown): CachedFlags => {
  if (Array.isArray(bootstrap)) return { flags: bootstrap, segments: [] };
  const snapshot = parseSnapshot(bootstrap);
  return snapshot === undefined
    ? { flags: [], segments: [] }
    : { flags: flagsOf(snapshot), segments: segmentsOf(snapshot) };
};

/**
 * Undefined without a server. An address that is given but undefined is a mistake, such as a missing environment variable,
 * and must not turn a program into one that has only its overrides.
 */
const serverOf = (options: ClientOptions): Server | undefined => {
  const isLocal = options.overrides !== undefined || options.bootstrap !== undefined;
  return isLocal && !("url" in options) && !("key" in options)
    ? undefined
    : serverAt(options as Address);
};

export const createClient = (options: ClientOptions): Client => {
  const server = serverOf(options);
  const timing: Timing = { ...standardTiming, ...options.timing };
  const listeners = createListeners<ClientEvents>();
  const connection = createConnectionState(listeners, warnWith(options.log, server?.base ?? ""));
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

  if (options.bootstrap !== undefined) {
    const { flags, segments } = contentOf(options.bootstrap);
    versions = createVersions(parseSnapshot(options.bootstrap));
    apply(() => table.replace(flags, segments));
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
    apply(() => table.replace(cached.flags, cached.segments));
  });

  const stop = new AbortController();
  const applyFromServer = (change: () => string[]) => {
    const first = !fromServer;
    fromServer = true;
    if (apply(change) || first) cache?.save();
  };
  const identity =
    server === undefined || options.reportApplied === false
      ? undefined
      : createIdentity(options.name);
  const applied = server && identity && startAppliedReport(server, timing, identity);
  const follow = (from: Server) =>
    followFlags({
      server: from,
      clientId: identity?.id,
      timing,
      streaming: options.streaming ?? true,
      signal: stop.signal,
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
  const following = server === undefined ? Promise.resolve().then(connection.live) : follow(server);
  const contexts = options.sampleContexts === true ? createReportedContexts() : undefined;
  const usage =
    server === undefined || options.reportUsage === false
      ? undefined
      : startUsageReport(server, timing, () => entries.values(), {
          contexts: contexts?.take,
          client: applied?.current,
        });

  const details = <Value extends FlagValue>(
    key: string,
    context: EvaluationContext | undefined,
    fallback: Value,
  ): Details<Value> => {
    const override = table.overridden(key);
    const entry = entries.get(key);
    if (override === undefined && entry === undefined) {
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

  return {
    get state() {
      return connection.current;
    },
    get error() {
      return connection.error;
    },
    ready: connection.ready,
    on: listeners.on,
    flags: table.flags,
    flagMetadata: (key) =>
      table.overridden(key) === undefined ? versions.metadataOf(key) : undefined,
    override(key, value) {
      const keys = table.override(key, value);
      if (keys.length > 0) listeners.emit("change", { keys });
    },
    // Apart from `details`, because a fallback must cost nothing here.
    isEnabled(key, context, fallback = false) {
      const override = table.overridden(key);
      const entry = entries.get(key);
      if (entry === undefined && override === undefined) return fallback;
      const result = override ?? evaluateEntry(entry as FlagEntry, context);
      contexts?.offer(context ?? noContext);
      if ("errorCode" in result || typeof result.value !== "boolean") return fallback;
      if (override === undefined) entry?.count(result);
      return result.value;
    },
    stringValue: (key, context, fallback) => details(key, context, fallback).value,
    numberValue: (key, context, fallback) => details(key, context, fallback).value,
    objectValue: <Value extends object>(
      key: string,
      context: EvaluationContext,
      fallback: Value,
    ): Value => details(key, context, fallback as ObjectValue).value as Value,
    details: <Value extends FlagValue = boolean>(
      key: string,
      context?: EvaluationContext,
      fallback: Value = false as Value,
    ) => details(key, context, fallback as unknown as Widened<Value>),
    async close() {
      if (connection.current === "closed") return;
      connection.close();
      stop.abort();
      await Promise.all([following, usage?.close(), applied?.close(), cache?.settled()]);
    },
  };
};
