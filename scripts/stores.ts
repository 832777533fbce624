// Which tests run on PostgreSQL too: all that start a server or open a store, but for those that are about SQLite itself.
import { readFileSync } from "node:fs";
import { basename } from "node:path";

const aboutSqlite: Readonly<Record<string, string>> = {
  "store.test.ts": "the contract on SQLite; store-postgres.test.ts is its twin",
  "group-commit.test.ts": "how SQLite commits",
  "overload.test.ts": "holds a lock of SQLite",
  "sqlite-trouble.test.ts": "locks and rollbacks of SQLite",
  "store-postgres.test.ts": "chooses PostgreSQL by itself",
};

/** Once in `npm test`, on SQLite; `npm run test:postgres` runs them on PostgreSQL too. */
const shortOnOne: Readonly<Record<string, string>> = {
  "permissions.test.ts": "decided from values; keys.test.ts runs on both",
  "protection.test.ts": "four-eyes.test.ts runs on both",
  "environments.test.ts": "environment-copy.test.ts runs on both",
  "users.test.ts": "personal-keys.test.ts runs on both",
  "kill-loop.test.ts": "faults/postgres-instances.test.ts does more with three instances",
  "kill.test.ts": "faults/postgres-instances.test.ts does more with three instances",
  "access-log.test.ts": "what is logged",
  "audit.test.ts": "what is logged",
  "authentication.test.ts": "keys are found in memory; keys.test.ts runs on both",
  "backlog.test.ts": "how the delivery worker works a backlog off",
  "bad-http.test.ts": "ends before the store",
  "bad-input.test.ts": "ends before the store",
  "callback-address.test.ts": "ends before the store",
  "clock.test.ts": "what is due when the clock has moved is in the outbox contract, on both",
  "dashboard-serving.test.ts": "files, not rows",
  "deactivation.test.ts": "when a webhook is deactivated is decided from values",
  "delivery-shares.test.ts": "how the delivery worker shares its requests",
  "docs-page.test.ts": "files, not rows",
  "failing-flags.test.ts": "what the delivery worker does with what it claimed",
  "fairness.test.ts": "how the delivery worker shares its requests",
  "flagd.test.ts": "what is in memory",
  "flagd-limits.test.ts": "streams tell from memory; follow.test.ts runs on both",
  "flagd-sync.test.ts": "streams tell from memory; follow.test.ts runs on both",
  "flagd-daemon.test.ts": "evaluation reads memory",
  "flagd-languages.test.ts": "evaluation reads memory",
  "flag-events.test.ts": "events are built from values; transaction.test.ts writes them on both",
  "flag-lists.test.ts": "filters and pages of what is in memory",
  "flag-rules.test.ts": "what is refused is decided from values",
  "forbidden-addresses.test.ts": "what is connected to",
  "fuzz.test.ts": "what is refused ends before the store",
  "hostile.test.ts": "what receivers do",
  "idle-readers.test.ts": "ends before the store",
  "limits.test.ts": "ends before the store",
  "load.test.ts": "what is asked at once, and how it is refused",
  "metrics-access.test.ts": "ends before the store",
  "metrics-workers.test.ts": "what processes tell each other",
  "neighbours.test.ts": "how the delivery worker and replays share the process",
  "signatures.test.ts": "what is signed",
  "shutdown.test.ts": "faults/postgres-outage.test.ts stops a server whose PostgreSQL is silent",
  "ofrep-bulk.test.ts": "evaluation reads memory",
  "fast-path.test.ts": "evaluation reads memory",
  "ofrep-metadata.test.ts": "evaluation reads memory",
  "ofrep-languages.test.ts": "evaluation reads memory",
  "ofrep-providers.test.ts": "evaluation reads memory",
  "ofrep-refusals.test.ts": "ends before the store",
  "oidc.test.ts": "what providers say; oidc-people.test.ts runs on both",
  "oidc-sessions.test.ts": "what providers say; oidc-people.test.ts runs on both",
  "openapi.test.ts": "what is described",
  "request-cost.test.ts": "ends before the store",
  "session-places.test.ts": "which pages may ask",
  "session-requests.test.ts": "which requests are refused; session-end.test.ts runs on both",
  "retries.test.ts": "when to retry is decided from values; the outbox contract is on both",
  "rotation.test.ts": "which signatures are sent",
  "security-headers.test.ts": "ends before the store",
  "session.test.ts": "cookies and tokens; session-end.test.ts runs on both",
  "sign-in.test.ts": "what is told to whom; sign-in-sessions.test.ts runs on both",
  "sign-in-log.test.ts": "what is logged",
  "sign-in-attacks.test.ts": "which requests are refused and which wait",
  "snapshot.test.ts": "what is in memory",
  "stream.test.ts": "streams tell from memory; follow.test.ts runs on both",
  "stream-broadcaster.test.ts": "streams tell from memory; follow.test.ts runs on both",
  "stream-exchange.test.ts": "streams tell from memory; follow.test.ts runs on both",
  "stream-limits.test.ts": "streams tell from memory; follow.test.ts runs on both",
  "stream-refetch.test.ts": "streams tell from memory; follow.test.ts runs on both",
  "stream-shares.test.ts": "streams tell from memory; follow.test.ts runs on both",
  "store-outage.test.ts": "faults/postgres-outage.test.ts takes a real PostgreSQL away",
  "tracing.test.ts": "what is told of the store, whichever it is",
  "bootstrap-keys.test.ts": "what a setting says; keys.test.ts runs on both",
  "bounds.test.ts": "counts of rows; retention.test.ts deletes them on both",
  "flag-reads.test.ts": "what is in memory",
  "follow-keys.test.ts": "what is in memory; follow.test.ts runs on both",
  "follow-snapshot.test.ts": "what is in memory; follow.test.ts runs on both",
  "freshness.test.ts": "what is in memory; follow.test.ts runs on both",
  "key-limits.test.ts": "decided from values; keys.test.ts runs on both",
  "levels.test.ts": "what is in memory",
  "metrics.test.ts": "what is counted in memory",
  "manifest.test.ts": "writes as flags.test.ts does, which runs on both",
  "ofrep.test.ts": "evaluation reads memory",
  "secrets.test.ts": "what is sealed before it is stored",
  "session-links.test.ts": "links; session-end.test.ts runs on both",
  "targeting.test.ts": "decided from values; segments.test.ts and flags.test.ts run on both",
  "usage-counting.test.ts": "what is counted in memory; usage.test.ts runs on both",
  "change-requests.test.ts": "four-eyes.test.ts and scheduled-requests.test.ts run on both",
  "follow-feed.test.ts": "what it reads and when; follow.test.ts runs on both",
  "history.test.ts": "history-filters.test.ts runs on both",
  "replay.test.ts": "replay-parts.test.ts runs on both",
  "sign-in-invitations.test.ts": "what is told to whom; sign-in-sessions.test.ts runs on both",
  "sign-in-second-factor.test.ts": "decided from values; sign-in-sessions.test.ts runs on both",
  "usage-details.test.ts": "usage.test.ts runs on both",
  "workers.test.ts": "faults/postgres-instances.test.ts does more with three instances",
};
const isFull =
  process.env.HALYARD_FAULTS === "full" || process.env.HALYARD_TEST_STORE === "postgres";

const opensStore = /\b(startTestServer|startSingleSignOn|serveHalyard|composeStore)\b/;

/** Chooses PostgreSQL by itself, whatever store the run is about. */
export const needsPostgres = (file: string): boolean => /postgres/.test(basename(file));

export const runsOnBoth = (file: string): boolean =>
  file.startsWith("packages/server/test/") &&
  !needsPostgres(file) &&
  aboutSqlite[basename(file)] === undefined &&
  (isFull || shortOnOne[basename(file)] === undefined) &&
  opensStore.test(readFileSync(file, "utf8"));
