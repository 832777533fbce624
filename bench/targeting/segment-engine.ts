// A flag with a large segment and one with a small one, and what more flags with the large one take.
import { evaluate } from "../../packages/core/src/evaluate.ts";
import { rateOf, serve } from "./child.ts";
import { segmentFlag } from "./flags.ts";
import { newSnapshot } from "./snapshot-parts.ts";

export interface SegmentAsk {
  /** Evaluations a second with the segment of this name, or the bytes that 99 more flags take. */
  readonly wanted: "large" | "small" | "more flags";
  /** Different people who are asked about, one after the other. */
  readonly people: number;
  readonly milliseconds: number;
}

/** Texts of their own, as they come from a request or a file. */
const memberOf = (index: number): string =>
  Buffer.from(`user-${String(index * 7_919).padStart(9, "0")}`).toString("latin1");

const segmentOf = (key: string, members: number) => ({
  key,
  description: null,
  include: Array.from({ length: members }, (_, index) => memberOf(index)),
  exclude: [],
  when: null,
});
const snapshot = newSnapshot(
  [segmentFlag(0, "large"), segmentFlag(1, "small")],
  [segmentOf("large", 100_000), segmentOf("small", 10)],
);
/** Half of them are in the segment. */
const contextsOf = (members: number, people: number) =>
  Array.from({ length: 2_000 }, (_, nr) => {
    const index = nr % people;
    return {
      targetingKey: memberOf(index % 2 === 0 ? (index * 49) % members : 200_000 + index),
    };
  });

const heapAfterCollection = (): number => {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};

const bytesOfMoreFlags = (): number => {
  const before = heapAfterCollection();
  for (let index = 2; index < 101; index += 1) {
    const flag = segmentFlag(index, "large");
    const change = { kind: "flag", key: flag.key, version: 1, level: 2, value: flag } as const;
    snapshot.apply({ ...change, revision: snapshot.revision + 1, at: new Date() });
  }
  return heapAfterCollection() - before;
};

serve(({ wanted, people, milliseconds }: SegmentAsk) => {
  if (wanted === "more flags") return bytesOfMoreFlags();
  const prepared = snapshot.all()[wanted === "large" ? 0 : 1]?.prepared;
  if (!prepared) throw new Error("The flag is missing.");
  const contexts = contextsOf(wanted === "large" ? 100_000 : 10, people);
  const pass = () => {
    let on = 0;
    for (const context of contexts) {
      const evaluation = evaluate(prepared, context);
      if ("value" in evaluation && evaluation.value) on += 1;
    }
    return on;
  };
  return rateOf(pass, contexts.length, milliseconds);
});
