// Percentages as they are stored: in whole thousandths, so that they come back exactly.
import { fromThousandths, thousandthsOf } from "@halyard/core/percentage";

export const percentOf = (stored: number | null): number | null =>
  stored === null ? null : fromThousandths(stored);

export const storedPercent = (percent: number | null): number | null =>
  percent === null ? null : thousandthsOf(percent);
