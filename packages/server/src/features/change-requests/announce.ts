// Tells of a change request: a history entry and an event, with its deliveries.
import type { ChangeRequestEventType } from "@halyard/core/event-types";
import { type Author, withoutAddress } from "../../platform/auth/principal.ts";
import type { Clock, Locked, NewIds, Transaction } from "../../platform/database/store.ts";
import { buildEvent, orderedByRequest } from "../../writes/change.ts";
import { insertEvent } from "../../writes/insert-event.ts";
import { deliveriesOf } from "../../writes/webhook.ts";
import type { RequestRow } from "./change-request.ts";

/** Without bodies: the events of flags and segments carry those once it is applied. */
const shown = (request: RequestRow) => ({
  id: request.id,
  state: request.state,
  title: request.title,
  ...(request.reason !== null && { reason: request.reason }),
  author: withoutAddress(request.author),
  createdAt: request.createdAt.toISOString(),
  applyAt: request.applyAt?.toISOString() ?? null,
  appliedRevision: request.appliedRevision,
  operations: request.operations.map(({ kind, key, action, version }) => ({
    kind,
    key,
    action,
    version,
  })),
});

export type Announce = (
  transaction: Transaction,
  locked: Locked,
  type: ChangeRequestEventType,
  request: RequestRow,
  author: Author,
  more?: { readonly comment?: string; readonly before?: RequestRow },
) => Promise<Locked>;

/** The environment as it is afterwards. */
export const createAnnounce =
  (clock: Clock, newIds: NewIds): Announce =>
  async (transaction, { state: environment, webhooks }, type, request, author, more = {}) => {
    const { comment, before = null } = more;
    const at = clock();
    const chain = await transaction.record(environment.id, {
      subject: "change-request",
      subjectId: request.id,
      version: null,
      at,
      ...author,
      actions: [type],
      before: before && shown(before),
      after: { ...shown(request), ...(comment !== undefined && { comment }) },
    });
    const state = { ...environment, sequence: environment.sequence + 1, chain };
    const data = {
      changeRequest: shown(request),
      ...(comment !== undefined && { comment }),
    };
    const event = buildEvent(
      state,
      { id: newIds.event(), type, sequence: state.sequence, at },
      data,
      author,
    );
    const queue = orderedByRequest(request.id);
    await insertEvent(
      transaction,
      state,
      { ...event, at },
      queue,
      deliveriesOf([event], queue, webhooks, newIds.delivery),
    );
    return { state, webhooks };
  };
