// Answers evaluations of one flag in a process of its own, with or without a sample of the contexts: a round for each message.
import { createContextSample } from "../../packages/server/src/evaluation/context-sample-windows.ts";
import { createSnapshot } from "../../packages/server/src/evaluation/snapshot.ts";
import { answerOne } from "../../packages/server/src/http/ofrep/answers.ts";

const [size = 0, people = 0] = process.argv.slice(2).map(Number);
const count = 50_000;
const ofRound = 5_000;
const flags = Array.from({ length: 1_000 }, (_, index) => ({
  flag: {
    key: `flag-${index}`,
    type: "rollout" as const,
    enabled: true,
    percentage: 50,
    description: null,
  },
  version: 1,
  level: 1,
}));
const snapshot = createSnapshot(
  1,
  "development",
  { revision: 1, changedAt: null, flags, segments: [] },
  { of: () => ({ on: 0, off: 0, results: undefined }), forget() {} },
);
const contextSample = createContextSample({
  size,
  secret: "0123456789abcdef0123456789abcdef",
  clock: () => new Date(),
});
const contextOf = (index: number) => ({
  targetingKey: `user-${String(index % people).padStart(7, "0")}`,
  email: "somebody@example.com",
  plan: "premium",
  country: "CA",
});
// As after a while: who belongs into the sample is there.
for (let index = 0; index < people; index += 1) contextSample.offer(1, contextOf(index), false);
const bodies = Array.from({ length: count }, (_, index) =>
  Buffer.from(JSON.stringify({ context: contextOf(index * 7) })),
);
const records = { counts: { on: 0, off: 0, error: 0, bulk: 0 }, contextSample };
const principal = { role: "server" } as const;

let next = 0;
process.on("message", () => {
  const part = bodies.slice(next, next + ofRound);
  next = (next + ofRound) % count;
  const started = performance.now();
  for (const [index, body] of part.entries()) {
    answerOne(snapshot, `flag-${index % 1_000}`, body, principal, records);
  }
  process.send?.(ofRound / ((performance.now() - started) / 1_000));
});
process.send?.("ready");
