// History: every change of an environment, newest first, and the events that the changes made.
import { isFlagKey } from "@halyard/core/flags/rules";
import type {
  EventLogQuery,
  HistoryPage,
  HistoryQuery,
  LoggedEvent,
} from "../../domain/history.ts";
import type { EnvironmentRef } from "../../domain/principal.ts";
import { notFound, ok, type Result } from "../../errors.ts";
import type { Store } from "../../ports.ts";

type Page = Pick<HistoryQuery, "limit" | "before">;

export interface History {
  ofFlag(environment: EnvironmentRef, key: string, page: Page): Promise<Result<HistoryPage>>;
  ofEnvironment(environment: EnvironmentRef, query: HistoryQuery): Promise<HistoryPage>;
  events(environment: EnvironmentRef, query: EventLogQuery): Promise<readonly LoggedEvent[]>;
}

export const createHistory = (store: Store): History => ({
  async ofFlag({ id: environmentId }, key, page) {
    if (!isFlagKey(key)) return notFound("The flag", key);
    const ofKey = { subject: "flag", subjectId: key } as const;
    const found = await store.history(environmentId, { ...ofKey, ...page });
    // The history of a deleted flag stays readable: people want to know who deleted it.
    if (found.entries.length > 0) return ok(found);
    const last = await store.history(environmentId, { ...ofKey, limit: 1 });
    return last.entries.length > 0 ? ok(found) : notFound("The flag", key);
  },

  ofEnvironment: ({ id: environmentId }, query) => store.history(environmentId, query),

  events: ({ id: environmentId }, query) => store.eventLog(environmentId, query),
});
