// The flags and segments of every environment of the session, read again at an interval: a browser has too few connections to follow all of them. A copy reads them anew, once.
import type { Flag } from "@halyard/core/flags/registry";
import type { Lists } from "@halyard/core/plan/plan";
import type { Segment } from "@halyard/core/targeting/segment";
import { type EnvironmentEntry, parseSnapshot } from "@halyard/sdk/environment-events";
import {
  type QueryClient,
  queryOptions,
  type UseQueryResult,
  useQueries,
} from "@tanstack/react-query";
import { useCallback } from "react";
import { ApiError } from "../api.ts";
import type { Api } from "../session.tsx";

interface Entry<Value> {
  readonly value: Value;
  readonly version: number;
}

export interface EnvironmentState {
  readonly tag: string;
  readonly flags: ReadonlyMap<string, Entry<Flag>>;
  readonly segments: ReadonlyMap<string, Entry<Segment>>;
}

/** While the page is visible. An unchanged environment costs an empty response. */
const readEvery = 5_000;

/** What has the same version stays the same object, so that nothing is compared twice. */
const entriesOf = <Value>(
  entries: readonly EnvironmentEntry[],
  kind: EnvironmentEntry["kind"],
  before: ReadonlyMap<string, Entry<Value>> | undefined,
): ReadonlyMap<string, Entry<Value>> =>
  new Map(
    entries
      .filter((entry) => entry.kind === kind)
      .map(({ key, value, version }) => {
        const known = before?.get(key);
        return [key, known?.version === version ? known : { value: value as Value, version }];
      }),
  );

const readState = async (
  { fetch }: Api,
  before: EnvironmentState | undefined,
  signal: AbortSignal,
  query = "",
): Promise<EnvironmentState> => {
  const headers = before && { "if-none-match": before.tag };
  const response = await fetch(`${location.origin}/api/v1/snapshot${query}`, {
    ...(headers && { headers }),
    signal,
  });
  if (response.status === 304 && before) return before;
  const body: unknown = await response.json().catch(() => undefined);
  const snapshot = response.ok ? parseSnapshot(body) : undefined;
  if (snapshot === undefined) {
    const { message = "The response is not from Halyard." } = (body ?? {}) as { message?: string };
    const code = response.status === 409 ? "CONFLICT" : "UNEXPECTED_ANSWER";
    throw new ApiError({ code, message, status: response.status });
  }
  return {
    tag: response.headers.get("etag") ?? "",
    flags: entriesOf<Flag>(snapshot.entries, "flag", before?.flags),
    segments: entriesOf<Segment>(snapshot.entries, "segment", before?.segments),
  };
};

/** As it was at a time; as it is without one. */
export const readPastState = (
  api: Api,
  at: string | undefined,
  signal: AbortSignal,
): Promise<EnvironmentState> =>
  readState(api, undefined, signal, at === undefined ? "" : `?at=${encodeURIComponent(at)}`);

const snapshotKey = (api: Api) => [api.environment.name, "snapshot"] as const;

/** What is known already need not be sent again: the server says whether it is still so. */
const readBy =
  (api: Api) =>
  ({ client, signal }: { readonly client: QueryClient; readonly signal: AbortSignal }) =>
    readState(api, client.getQueryData<EnvironmentState>(snapshotKey(api)), signal);

const snapshotQuery = (api: Api) =>
  queryOptions({
    queryKey: snapshotKey(api),
    queryFn: readBy(api),
    refetchInterval: readEvery,
    structuralSharing: false,
  });

export interface EnvironmentView {
  readonly api: Api;
  /** Undefined until it has been read. */
  readonly state: EnvironmentState | undefined;
  readonly error: Error | null;
}

/** The same list until something in it changes; `apis` must be the same too. */
export const useEnvironmentStates = (apis: readonly Api[]): readonly EnvironmentView[] => {
  const combine = useCallback(
    (results: readonly UseQueryResult<EnvironmentState>[]) =>
      results.flatMap(({ data, error }, index): EnvironmentView[] => {
        const api = apis[index];
        return api === undefined ? [] : [{ api, state: data, error }];
      }),
    [apis],
  );
  return useQueries({ queries: apis.map(snapshotQuery), combine });
};

/**
 * Both environments as they are from now on, read once: nobody may confirm what was so some time ago,
 * and what others change later is a conflict, not a surprise. `reader` is one dialog, each time it opens.
 */
export const useStatesNow = (reader: string, apis: readonly Api[]) =>
  useQueries({
    queries: apis.map((api) =>
      queryOptions({
        queryKey: [api.environment.name, "snapshot-now", reader],
        queryFn: readBy(api),
        staleTime: Number.POSITIVE_INFINITY,
        gcTime: 0,
        structuralSharing: false,
      }),
    ),
  });

const valuesOf = <Value>(entries: ReadonlyMap<string, Entry<Value>>): readonly Value[] =>
  [...entries.values()].map(({ value }) => value);

export const listsOf = ({ flags, segments }: EnvironmentState): Lists => ({
  flags: valuesOf(flags),
  segments: valuesOf(segments),
});
