// The tables of change requests.
import type { Generated } from "kysely";

export interface ChangeRequestTables {
  change_requests: {
    id: string;
    environment_id: number;
    state: string;
    title: string;
    reason: string | null;
    /** JSON: the actor. */
    author: string;
    /** JSON: the ids of those whose request it is. */
    authors: string;
    created_at: number;
    updated_at: number;
    apply_at: number | null;
    applied_at: number | null;
    applied_revision: number | null;
    /** JSON: an actor. */
    closed_by: string | null;
    /** JSON: an actor and a reason. */
    bypass: string | null;
    /** JSON: the operations without bodies and previews, for lists. */
    summary: string;
    /** JSON. */
    operations: string;
  };
  /** Approvals and comments, in their order. */
  change_request_entries: {
    request_id: string;
    number: number;
    /** `approval` or `comment`. */
    kind: string;
    at: number;
    /** JSON. */
    actor: string;
    /** Of a comment. */
    text: string | null;
    /** 1 for an approval of what was edited since. */
    voided: Generated<number>;
  };
}
