// The kinds of objects in a file: how each is fetched, checked and sorted. Leaving out a kind is a compile error.
import { type Kind, kindNames, kinds, type SnapshotValues } from "@halyard/core/kinds";
import { orderSegment } from "@halyard/core/plan/same-segment";
import type { PastQuery } from "@halyard/sdk/management";
import { answered, type Connection } from "../server-connection/connection.ts";
import type { Report } from "./check-fields.ts";
import { checkFlag, orderMembers } from "./file-flag.ts";
import { checkFileSegment, fetchSegments } from "./file-segment.ts";
import type { Fields } from "./loose-values.ts";

interface FileKind<Value> {
  /** Fetches all of them from the environment. */
  readonly fetch: (connection: Connection) => Promise<readonly Value[]>;
  readonly check: (entry: Fields, report: Report) => void;
  /** The fields in the order of the file. */
  readonly order: (value: Value) => Value;
}

/** In milliseconds. Ten thousand flags with long descriptions take a while on a slow connection. */
const timeout = 60_000;

const byKind: { readonly [K in Kind]: FileKind<SnapshotValues[K]> } = {
  flag: {
    fetch: async (connection) =>
      answered(connection, await connection.management.flags.list({}, { timeout })),
    check: checkFlag,
    order: orderMembers,
  },
  segment: { fetch: fetchSegments, check: checkFileSegment, order: orderSegment },
};

type Lists = {
  readonly [K in Kind as (typeof kinds)[K]["list"]]: readonly SnapshotValues[K][];
};
/** The lists of a file by kind. Only the list of flags is required. */
export type FileLists = Pick<Lists, "flags"> & Partial<Lists>;

interface ListedKind extends FileKind<{ readonly key: string }> {
  readonly kind: Kind;
  /** The name of the kind's list in a file. */
  readonly list: keyof FileLists;
}

export const fileKinds: readonly ListedKind[] = kindNames.map((kind) => ({
  kind,
  list: kinds[kind].list,
  ...(byKind[kind] as unknown as FileKind<{ readonly key: string }>),
}));

export const isNeeded = (list: keyof FileLists): boolean => list === kinds.flag.list;

const withoutEmpty = (lists: readonly (readonly [keyof FileLists, readonly unknown[]])[]) =>
  Object.fromEntries(
    lists.filter(([list, values]) => isNeeded(list) || values.length > 0),
  ) as unknown as FileLists;

export const fetchLists = async (connection: Connection): Promise<FileLists> => {
  const lists = fileKinds.map(async ({ list, fetch }) => [list, await fetch(connection)] as const);
  return withoutEmpty(await Promise.all(lists));
};

/** All kinds at the same past moment. */
export const fetchPastLists = async (
  connection: Connection,
  when: PastQuery,
): Promise<FileLists> => {
  const { flags, segments = [] } = answered(
    connection,
    await connection.management.snapshot(when, { timeout }),
  );
  return withoutEmpty([
    [kinds.flag.list, flags.map(({ flag }) => flag)],
    [kinds.segment.list, segments.map(({ segment }) => segment)],
  ]);
};

export const orderLists = (lists: FileLists): FileLists =>
  withoutEmpty(
    fileKinds.map(
      ({ list, order }) =>
        [list, ((lists[list] ?? []) as readonly { readonly key: string }[]).map(order)] as const,
    ),
  );
