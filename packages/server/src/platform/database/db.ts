// The handle that every query function takes: the database outside a transaction, or one transaction on it.

import type { QueuedDelivery } from "../../features/webhooks/deliveries/rules.ts";
import type { ChainHead } from "../../writes/chained-entry.ts";
import type { Change } from "../../writes/change.ts";
import type { Requester } from "../auth/principal.ts";
import type { AuditLine } from "../telemetry/audit-line.ts";
import type { Dialect, SameSelect } from "./schema/dialect.ts";
import type { Database } from "./schema/tables.ts";
import type { SecretCipher } from "./secrets/secret-cipher.ts";

export interface Db {
  readonly database: Database;
  readonly dialect: Dialect;
  readonly secrets: SecretCipher;
  /** Locks what a transaction reads in order to change it. Outside a transaction it changes nothing. */
  readonly locked: SameSelect;
}

/** Inside one open transaction. */
export interface Tx extends Db {
  readonly signal: SignalDraft;
  /** The end of the history of each environment that is locked here. */
  readonly heads: Map<number, ChainHead>;
}

/** Collects what listeners learn after the commit. */
export interface SignalDraft {
  /** Undefined for a change that no request made. */
  readonly requester: Requester | undefined;
  readonly audit: AuditLine[];
  /** The names of environments that the transaction has locked or created. */
  readonly environmentNames: Map<number, string>;
  /** Webhooks with new deliveries, and webhooks that were changed. */
  readonly queued: Set<string>;
  readonly changed: Set<string>;
  /** Written at the end of the transaction, so that queues are locked in their order whatever the order of changes. */
  readonly deliveries: QueuedDelivery[];
  readonly changes: Change[];
  readonly revokedKeys: string[];
  accessChanged: boolean;
}

/** Outside a transaction, rows are read without locks. */
export const unlocked: SameSelect = (query) => query;
