// Change requests: what waits for a second person in a protected environment, and what becomes of it.

import type { EnvironmentRef } from "../../platform/auth/principal.ts";
import type { Sources, Store } from "../../platform/database/store.ts";
import type { Result } from "../../platform/errors.ts";
import type { Changes } from "../../writes/changes.ts";
import { createAnnounce } from "./announce.ts";
import { createApplyRequest } from "./apply-request.ts";
import { type Authoring, createAuthoring } from "./authoring.ts";
import { isRequestId, type RequestQuery, type RequestSummary } from "./change-request.ts";
import { listChangeRequests } from "./queries.ts";
import { createReviewing, type Reviewing } from "./reviewing.ts";
import { type ShownRequest, showRequest, type WithMoved, withMoved } from "./show.ts";
import { createOnPending, missing } from "./under-lock.ts";

export interface ChangeRequests extends Authoring, Reviewing {
  /** Newest first. */
  list(
    environment: EnvironmentRef,
    query: RequestQuery,
  ): Promise<readonly WithMoved<RequestSummary>[]>;
  get(environment: EnvironmentRef, id: string): Promise<Result<ShownRequest>>;
}

export const createChangeRequests = (
  store: Store,
  changes: Changes,
  { clock, newIds }: Pick<Sources, "clock" | "newIds">,
): ChangeRequests => {
  const announce = createAnnounce(clock, newIds);
  const onPending = createOnPending(store);
  return {
    async list({ id }, query) {
      return withMoved(store, id, await listChangeRequests(store, id, query));
    },
    get: async (environment, id) =>
      isRequestId(id) ? showRequest(store, environment.id, id) : missing(id),
    ...createAuthoring(store, changes, clock, announce, onPending),
    ...createReviewing(
      store,
      clock,
      announce,
      createApplyRequest(clock, newIds, announce),
      onPending,
    ),
  };
};
