// One transaction of the delivery worker: it records outcomes, and claims more.
import type { Store } from "../../../platform/database/store.ts";
import type { Claimed, DeliveryBatch } from "./batch.ts";
import { lockHeld, writeOutcomes } from "./outcome-queries.ts";
import { claim } from "./queries.ts";

export const runBatch = (
  store: Pick<Store, "transactAsyncCommit">,
  { claim: request, now, ...outcomes }: DeliveryBatch,
): Promise<Claimed> =>
  store.transactAsyncCommit(async (db) => {
    const held = await lockHeld(db, { ...outcomes, now });
    await writeOutcomes(db, held);
    return claim(db, request, now);
  });
