// Ids for new things: random, so that instances need not coordinate.
import type { RandomBytes } from "../ports.ts";

export interface NewIds {
  readonly event: () => string;
  readonly delivery: () => string;
  readonly webhook: () => string;
  readonly key: () => string;
}

export const createNewIds = (random: RandomBytes): NewIds => {
  const id = (bytes: number) => random(bytes).toHex();
  return {
    event: () => `evt_${id(16)}`,
    delivery: () => `dlv_${id(16)}`,
    webhook: () => `wh_${id(12)}`,
    key: () => id(8),
  };
};
