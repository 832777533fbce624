// The tables as the queries see them. The same on every database: times are milliseconds, booleans 0 or 1, JSON is text.
import type { Generated } from "kysely";

export interface Tables {
  schema_version: { version: number };
  environments: {
    id: Generated<number>;
    name: string;
    /** Counts the changes of flags: what snapshots and lists are compared by. */
    revision: number;
    /** Number of the last event. */
    sequence: number;
    flag_count: number;
    created_at: number;
  };
  api_keys: {
    id: string;
    environment_id: number;
    name: string;
    role: string;
    hash: Uint8Array;
    created_at: number;
    revoked_at: number | null;
  };
  flags: {
    environment_id: number;
    key: string;
    type: string;
    enabled: number;
    /** Thousandths of a percent; null on boolean flags. */
    thousandths: number | null;
    description: string | null;
    version: number;
  };
  history: {
    id: Generated<number>;
    environment_id: number;
    /** The environment's revision that a change of a flag made; null for other subjects. */
    revision: number | null;
    subject: string;
    subject_id: string;
    version: number | null;
    at: number;
    actor_key_id: string | null;
    actor_name: string;
    actions: string;
    before: string | null;
    after: string | null;
  };
  events: {
    environment_id: number;
    sequence: number;
    id: string;
    type: string;
    flag_key: string;
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
    created_at: number;
  };
  deliveries: {
    id: string;
    environment_id: number;
    webhook_id: string;
    sequence: number;
    flag_key: string;
    state: string;
    created_at: number;
  };
  answers: {
    key_id: string;
    name: string;
    fingerprint: string;
    sealed: Uint8Array;
    expires_at: number;
  };
}
