// Refuses a request when too many wait for the database: a slow one must not fill the memory with them.
import { StoreUnavailable } from "../../errors.ts";

export const refuseWhenCrowded = (waiting: number, maxWaiting: number): void => {
  if (waiting < maxWaiting) return;
  throw new StoreUnavailable(`${maxWaiting} requests already wait for the store.`, {
    isCrowded: true,
  });
};
