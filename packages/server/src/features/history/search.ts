// A search through the history: batch after batch, newest first, with other work served in between.
import { setImmediate } from "node:timers/promises";
import type { Db } from "../../platform/database/db.ts";
import type { HistoryPage, HistoryQuery, SearchedEntry } from "../../writes/history-entry.ts";
import { listHistoryEntries, listSearchedHistory } from "./queries.ts";

const batchSize = 500;
/** One request searches 10,000 entries; the next page continues from there. */
const maxBatches = 20;

export const searchHistory = async (
  db: Db,
  environmentId: number,
  query: HistoryQuery,
  { matches, withStates }: { matches: (entry: SearchedEntry) => boolean; withStates: boolean },
): Promise<HistoryPage> => {
  const ids: number[] = [];
  let searchedTo = query.before;
  let isAtEnd = false;
  for (let batch = 0; batch < maxBatches && !isAtEnd && ids.length < query.limit; batch += 1) {
    if (batch > 0) await setImmediate();
    const { entries, found } = await listSearchedHistory(
      db,
      environmentId,
      { ...query, limit: batchSize, before: searchedTo },
      withStates,
    );
    ids.push(...entries.filter(matches).map(({ id }) => id));
    searchedTo = entries.at(-1) ?? searchedTo;
    isAtEnd = found < batchSize && entries.length === found;
  }
  const found = await listHistoryEntries(db, environmentId, ids.slice(0, query.limit));
  // A full page continues after its last entry.
  return isAtEnd || ids.length >= query.limit ? found : { ...found, searchedTo };
};
