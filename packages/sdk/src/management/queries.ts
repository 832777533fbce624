// The query parameters of lists.
import type { Flag } from "@halyard/core/flags/registry";
import type { Delivery, HistoryEntry } from "./resources.ts";

export interface PageQuery {
  /** 1 to 1000. */
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly cursor?: string;
}

/** For an earlier state: at most one of them. */
export interface PastQuery {
  /** ISO 8601: the state at this time. */
  readonly at?: string;
  /** The environment's revision. */
  readonly revision?: number;
}

export interface FlagQuery extends PageQuery, PastQuery {
  readonly type?: Flag["type"];
  readonly enabled?: boolean;
  /** Part of the key or the description. */
  readonly q?: string;
  /** Only flags that have this tag. */
  readonly tag?: string;
  /** Only flags of this owner. */
  readonly owner?: string;
}

export interface HistoryQuery extends PageQuery {
  readonly subject?: HistoryEntry["subject"];
  /** The key or id of the subject; with `subject`. */
  readonly id?: string;
  /** Only deletions; revoked keys are among them. */
  readonly deleted?: true;
  /** Only changes by the API key or the person with exactly this name or id. */
  readonly actor?: string;
  /**
   * Part of the key or id of what was changed, of its name, title, address or description, or of the reason. This and the
   * three below ignore case. A page of a search can be empty and still have a next one.
   */
  readonly q?: string;
  /** Part of the name or the id of the API key or the person who made the change. */
  readonly who?: string;
  /** Part of a tag of the flag, as it is now, or as it was before or after the change. */
  readonly tag?: string;
  /** Part of the owner of the flag, as it is now, or as it was before or after the change. */
  readonly owner?: string;
  /** Only changes from this time on; ISO 8601. */
  readonly since?: string;
  /** Only changes up to this time; ISO 8601. */
  readonly until?: string;
}

export interface EventQuery {
  /** 1 to 1000, 100 by default. */
  readonly limit?: number;
  /** The `sequence` of the last event you have. */
  readonly after?: number;
  /** ISO 8601. */
  readonly since?: string;
}

export interface DeliveryQuery extends PageQuery {
  /** Retrying are the pending ones that have failed before. */
  readonly state?: Delivery["state"] | "retrying";
  /** The key of a flag. */
  readonly flag?: string;
}
