// Flags, users and a preview of them, for tests.
import type { EvaluationContext } from "../../src/context.ts";
import type { Flag } from "../../src/flags/registry.ts";
import { type Preview, type PreviewQuestion, previewChanges } from "../../src/preview/preview.ts";
import type { Side } from "../../src/preview/side.ts";
import type { SegmentTestable } from "../../src/targeting/segment.ts";

export const sideOf = (
  flags: readonly Flag[],
  segments: Readonly<Record<string, SegmentTestable>> = {},
): Side => ({
  flag(key) {
    const flag = flags.find((each) => each.key === key);
    return flag && { flag };
  },
  segment: (key) => segments[key],
});

export const run = (
  question: Pick<PreviewQuestion, "before" | "after" | "contexts"> & Partial<PreviewQuestion>,
): Preview => {
  const work = previewChanges({ changed: ["checkout"], touched: [], ...question });
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
};

export const rollout = (percentage: number, rest: Partial<Flag> = {}): Flag =>
  ({
    key: "checkout",
    type: "rollout",
    enabled: true,
    percentage,
    description: null,
    ...rest,
  }) as Flag;

export const boolean = (key: string, rest: Partial<Flag> = {}): Flag =>
  ({ key, type: "boolean", enabled: true, description: null, ...rest }) as Flag;

export const people = (
  count: number,
  rest: (index: number) => object = () => ({}),
): EvaluationContext[] =>
  Array.from({ length: count }, (_, index) => ({ targetingKey: `user-${index}`, ...rest(index) }));

export const planIn = (...values: string[]) => ({ attribute: "plan", op: "in", values }) as const;
