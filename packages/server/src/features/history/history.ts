// History: every change of an environment, newest first, and the events that the changes made.
import { isFlagKey } from "@halyard/core/flags/rules";
import type { FlagReads } from "../../evaluation/flag-reads.ts";
import type { EnvironmentRef } from "../../platform/auth/principal.ts";
import type { Db } from "../../platform/database/db.ts";
import { notFound, ok, type Result } from "../../platform/errors.ts";
import type {
  EventLogPage,
  EventLogQuery,
  HistoryEntry,
  HistoryPage,
  HistoryQuery,
  HistorySubject,
} from "../../writes/history-entry.ts";
import { listEventLog, listHistory } from "./queries.ts";
import { searchHistory } from "./search.ts";
import { createSearch, type HistorySearch, type Visible } from "./search-rules.ts";

/** A query, a search, and what its caller may see. */
export interface Selection extends HistorySearch {
  readonly query: HistoryQuery;
  readonly visible: Pick<Visible, "state">;
}

type Page = Pick<HistoryQuery, "limit" | "before">;

export interface History {
  ofFlag(environment: EnvironmentRef, key: string, page: Page): Promise<Result<HistoryPage>>;
  /** A search can stop before its end, at `searchedTo`. */
  ofEnvironment(environment: EnvironmentRef, selection: Selection): Promise<HistoryPage>;
  events(environment: EnvironmentRef, query: EventLogQuery): Promise<EventLogPage>;
}

/** The last entry of one flag or webhook, for example. */
export const findLastEntry = async (
  db: Db,
  environmentId: number,
  subject: HistorySubject,
  subjectId: string,
): Promise<HistoryEntry | undefined> => {
  const { entries } = await listHistory(db, environmentId, { subject, subjectId, limit: 1 });
  return entries[0];
};

export const createHistory = (db: Db, flags: Pick<FlagReads, "list">): History => ({
  async ofFlag({ id: environmentId }, key, page) {
    if (!isFlagKey(key)) return notFound("The flag", key);
    const found = await listHistory(db, environmentId, {
      subject: "flag",
      subjectId: key,
      ...page,
    });
    // The history of a deleted flag stays readable: people want to know who deleted it.
    if (found.entries.length > 0) return ok(found);
    const last = await findLastEntry(db, environmentId, "flag", key);
    return last ? ok(found) : notFound("The flag", key);
  },

  async ofEnvironment(environment, { query, visible, ...search }) {
    const { text, who, tag, owner } = search;
    if ([text, who, tag, owner].every((part) => part === undefined)) {
      return listHistory(db, environment.id, query);
    }
    const now = await flags.list(environment);
    const matches = createSearch(search, {
      ...visible,
      flagNow: (key) => (now.ok ? now.value.get(key)?.flag : undefined),
    });
    const isOfFlags = tag !== undefined || owner !== undefined;
    const withStates = text !== undefined || isOfFlags;
    const selected = isOfFlags ? { ...query, subject: "flag" as const } : query;
    return searchHistory(db, environment.id, selected, { matches, withStates });
  },

  events: ({ id: environmentId }, query) => listEventLog(db, environmentId, query),
});
