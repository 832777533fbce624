// What receivers must have been told in the end: every event of the store, each answered change among them.
import assert from "node:assert/strict";
import { readRows } from "../../support/database.ts";
import type { AnsweredChange } from "./flag-writer.ts";
import type { Receipt, Receiver } from "./receiver.ts";
import type { Random } from "./seeded-random.ts";

export interface ExpectedEvent {
  readonly sequence: number;
  readonly flagKey: string;
  readonly version: number;
}

/** By id. */
export type ExpectedEvents = ReadonlyMap<string, ExpectedEvent>;

export const readExpectedEvents = async (folder: string): Promise<ExpectedEvents> => {
  const rows = await readRows({ folder }, "select id, sequence, ordering_key, body from events");
  return new Map(
    rows.map(({ id, sequence, ordering_key, body }) => {
      const { data } = JSON.parse(Buffer.from(body as Uint8Array).toString());
      const event = { sequence: Number(sequence), flagKey: String(ordering_key) };
      return [String(id), { ...event, version: Number(data.version) }];
    }),
  );
};

/** Holds a receiver against the store; gives what it accepted. */
export const checkTold = (
  { receipts, wrong }: Receiver,
  events: ExpectedEvents,
  answered: readonly AnsweredChange[],
): Receipt[] => {
  assert.deepEqual(wrong, [], "no wrong signature, ever");
  const accepted = receipts.filter(({ status }) => status === 204);
  for (const { eventId, flagKey, sequence, version } of receipts) {
    const event = events.get(eventId);
    assert.ok(event, `event ${eventId} of ${flagKey} has no change`);
    assert.deepEqual([flagKey, sequence, version], [event.flagKey, event.sequence, event.version]);
  }
  const sequences = [...new Set(accepted.map(({ sequence }) => sequence))].sort((a, b) => a - b);
  assert.deepEqual(
    sequences,
    Array.from({ length: events.size }, (_, index) => index + 1),
    "every event arrived",
  );
  const told = new Set(accepted.map(({ flagKey, version }) => `${flagKey} ${version}`));
  for (const { flagKey, version } of answered) {
    assert.ok(told.has(`${flagKey} ${version}`), `${flagKey} version ${version} was never told`);
  }
  return accepted;
};

/** Down three tenths of the time, in slots, by cut connections and by 503. Gives the function that ends it. */
export const flicker = (receiver: Receiver, random: Random): (() => void) => {
  // Each is down when the next request comes, whatever chance does in a short run.
  receiver.behave("unavailable");
  const before = receiver.receipts.length;
  const timer = setInterval(() => {
    if (receiver.receipts.length === before) return;
    const chance = random(20);
    receiver.behave(chance < 3 ? "reset" : chance < 6 ? "unavailable" : "up");
  }, 300);
  return () => {
    clearInterval(timer);
    receiver.behave("up");
  };
};
