// Commits decisions: each with its history entry, events and deliveries, when the environment stays whole with it.

import type { Author } from "../platform/auth/principal.ts";
import type { Clock, Locked, NewIds, Transaction } from "../platform/database/store.ts";
import { ok, type Result } from "../platform/errors.ts";
import { buildEvents, type Decision, type EnvironmentState, orderedBy } from "./change.ts";
import { checkDecision } from "./references.ts";
import { deliveriesOf } from "./webhook.ts";

export type Commit = (
  transaction: Transaction,
  locked: Locked,
  author: Author,
  decision: Decision,
) => Promise<Result<EnvironmentState>>;

/** The environment as it is afterwards. */
export const createCommit =
  (clock: Clock, newIds: NewIds): Commit =>
  async (transaction, { state, webhooks }, author, decision) => {
    const possible = await checkDecision(transaction, state, decision);
    if (!possible.ok) return possible;
    const change = buildEvents(state, decision, author, clock(), newIds.event);
    const { events } = change;
    await transaction.commit(
      change,
      deliveriesOf(events, orderedBy(decision), webhooks, newIds.delivery),
    );
    return ok(change.state);
  };
