// The tables as queries see them: times are milliseconds, booleans 0 or 1, JSON is text.
import type { Generated, Kysely } from "kysely";
import type { ChangeRequestTables } from "./change-request-tables.ts";
import type { PeopleTables } from "./people-tables.ts";
import type { UsageTables } from "./usage-tables.ts";

/** The database, or one transaction on it. */
export type Database = Kysely<Tables>;
export type Callback<T> = (database: Database) => Promise<T>;
export type Transact = <T>(callback: Callback<T>) => Promise<T>;

export interface Tables extends PeopleTables, ChangeRequestTables, UsageTables {
  schema_version: { version: number };
  environments: {
    id: Generated<number>;
    name: string;
    /** Counts the changes of flags: what snapshots and lists are compared by. */
    revision: number;
    /** Number of the last event. */
    sequence: number;
    flag_count: number;
    /** Counts the keys that were issued and revoked. */
    keys_revision: Generated<number>;
    created_at: number;
    segment_count: Generated<number>;
    /** Of rules, variants and segments. */
    definition_bytes: Generated<number>;
    /** Steps that rules and segments take for the largest context. */
    definition_work: Generated<number>;
    /** When the revision was made; null before the first. */
    changed_at: Generated<number | null>;
    /** What people call it; null for its name. */
    label: Generated<string | null>;
    /** 1 when changes need a second person. */
    protected: Generated<number>;
    /** When it is deleted; null for never. */
    expires_at: Generated<number | null>;
    /** The limit on flips in thousandths of a percent; null for none. */
    max_flips: Generated<number | null>;
    /** While it is being copied from another: that one. Nobody sees it, and it expires unless the copy goes on. */
    copy_of: Generated<number | null>;
    /** Of its history, at the last entry. */
    chain: string;
  };
  api_keys: {
    id: string;
    environment_id: number;
    name: string;
    role: string;
    hash: Uint8Array;
    created_at: number;
    revoked_at: number | null;
    last_used_at: Generated<number | null>;
    expires_at: number | null;
    /** JSON: the origins of the pages that may use it; null for any. */
    origins: string | null;
    /** 1 when the operator has chosen its text. */
    given: Generated<number>;
    /** Whose key it is; null for keys of programs. */
    user_id: Generated<string | null>;
    /** `key`, or `access` for what a person may do in the environment: nobody has its text. */
    kind: Generated<string>;
    /** 1 when a group of the person's provider gave the access. */
    from_group: Generated<number>;
    /** The lower role that the person was given by hand; null without one. */
    hand_role: Generated<string | null>;
    /** 1 when it changes a protected environment without a change request. */
    writes_directly: Generated<number>;
    /** The limit on flips in thousandths of a percent; null for none. */
    max_flips: Generated<number | null>;
    /** The person who issued it; null when none did. */
    created_by: Generated<string | null>;
  };
  flags: {
    environment_id: number;
    key: string;
    type: string;
    enabled: number;
    /** Thousandths of a percent; null on flags without a percentage. */
    thousandths: number | null;
    description: string | null;
    version: number;
    /** JSON: the members that have no column; null when there are none. */
    definition: string | null;
    /** What it takes to evaluate the flag; null for the first level. */
    level: number | null;
  };
  segments: {
    environment_id: number;
    key: string;
    description: string | null;
    /** JSON; null when there is none. */
    condition: string | null;
    include_count: number;
    exclude_count: number;
    version: number;
  };
  segment_members: {
    environment_id: number;
    segment_key: string;
    /** `include` or `exclude`. */
    list: string;
    member: string;
  };
  /** What flags name outside themselves: segments, and the flags that they require. */
  flag_references: {
    environment_id: number;
    flag_key: string;
    /** `segment` or `flag`. */
    kind: string;
    key: string;
    /** That is required; null for a segment. */
    variant: string | null;
  };
  /** Rows with a revision are the revision log that instances and streams follow. */
  history: {
    id: Generated<number>;
    environment_id: number;
    /** The revision of the environment that the change made; null for subjects that make none. */
    revision: number | null;
    subject: string;
    subject_id: string;
    version: number | null;
    at: number;
    actor_key_id: string | null;
    actor_name: string;
    /** The person, when it was one. */
    actor_user_id: Generated<string | null>;
    actor_user_name: Generated<string | null>;
    actions: string;
    before: string | null;
    after: string | null;
    /** Of `after`, see flags. */
    level: number | null;
    /** Why, when whoever made the change said so. */
    reason: Generated<string | null>;
    /** JSON: the change request that it was part of, or who went past the approval; null for neither. */
    review: Generated<string | null>;
    /** What it says, and the chain up to it; null in a row that Halyard has not written. */
    digest: string | null;
    chain: string | null;
  };
  /** What stands for entries that were deleted, and for names that were replaced in entries. */
  history_checkpoints: {
    id: Generated<number>;
    environment_id: number;
    /** The entry that it is about, or the last one of those that were deleted. */
    entry_id: number;
    /** `pruned` or `redacted`. */
    kind: string;
    /** JSON: what is signed. */
    statement: string;
    key_id: string;
    hmac: string;
  };
  events: {
    id: string;
    environment_id: number;
    /** Null for a test, which is not part of the environment's sequence. */
    sequence: number | null;
    type: string;
    /** What its deliveries are ordered by: a flag's key, or `segment:` and a segment's key for example; null for a test. */
    ordering_key: string | null;
    created_at: number;
    body: Uint8Array;
  };
  webhooks: {
    id: string;
    environment_id: number;
    url: string;
    events: string;
    active: number;
    secret: Uint8Array;
    /** The secret before the last rotation, valid until `previous_until`. */
    previous_secret: Uint8Array | null;
    previous_until: number | null;
    /** Time of the first failure since the last success. */
    failing_since: number | null;
    /** See `Failing`. */
    failing_counted_at: number | null;
    failing_for: number | null;
    /** 1 for requests with the headers of CloudEvents. */
    cloud_events: number;
    created_at: number;
  };
  /** Of the pending deliveries of a queue only the oldest is sent. One for each webhook, ordering key and priority. */
  delivery_queues: {
    id: Generated<number>;
    webhook_id: string;
    /** As in `events`; for a test, a space and the delivery's id. */
    ordering_key: string;
    /** 0 for live events, 1 for replays, which come after them. */
    priority: number;
    /** When its oldest delivery may be tried; null while nothing is pending. */
    due_at: number | null;
    /** The receiver asked for no attempt before this time; 0 when it did not. */
    not_before: Generated<number>;
    /** Fencing id of the claim that holds it: a worker paused past its lease cannot record an outcome. */
    lease_id: string | null;
    lease_until: number;
  };
  deliveries: {
    /** Order within a queue. */
    position: Generated<number>;
    id: string;
    webhook_id: string;
    queue_id: number;
    event_id: string;
    sequence: number | null;
    kind: string;
    state: string;
    attempts: number;
    created_at: number;
    settled_at: number | null;
  };
  attempts: {
    position: number;
    number: number;
    at: number;
    milliseconds: number;
    status: number | null;
    error: string | null;
    response: string | null;
  };
  /** The attempts of a webhook within ten minutes, which begin at `slot`. */
  attempt_counts: {
    webhook_id: string;
    slot: number;
    succeeded: number;
    failed: number;
    last_success_at: number | null;
    last_failure_at: number | null;
    last_error: string | null;
  };
  replays: {
    webhook_id: string;
    reached: number;
    last_sequence: number;
    from_time: number | null;
    to_time: number | null;
    replayed: number;
    through_sequence: number | null;
    state: string;
    started_at: number;
    ended_at: number | null;
  };
  /** Environments that were removed, or are being. */
  removed_environments: {
    id: number;
    name: string;
    flags: number;
    webhooks: number;
    keys: number;
    began_at: number;
    ended_at: number | null;
    /** JSON: who removed it. */
    actor: string;
  };
  /** The running instances, for each other: what they and their clients have applied. */
  instances: {
    id: string;
    name: string;
    version: string;
    started_at: number;
    /** Its last heartbeat, by the database's clock. */
    seen_at: number;
    /** The same by its own clock. */
    clock: number;
    /** JSON: the revision of each environment, and its clients. */
    body: string;
  };
  /** Responses kept for requests that are sent again. */
  idempotency_records: {
    key_id: string;
    name: string;
    fingerprint: string;
    sealed: Uint8Array;
    expires_at: number;
  };
}
