// Programs that come and go do not fill the memory, although nobody asks who is there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createClients } from "../src/evaluation/clients/connected-clients.ts";
import { movableClock, second } from "./support/movable-clock.ts";

test("programs that had a stream and are gone are forgotten, so that there is room for others", () => {
  const time = movableClock();
  const clients = createClients(time.clock);
  const holder = { environmentId: 1, keyId: "some" };
  for (let program = 0; program < 20_000; program += 1) clients.streams(holder, `${program}`)();
  time.forward(600 * second);
  clients.forget();
  clients.polls({ ...holder, keyId: "another" }, "another");
  assert.deepEqual(
    clients
      .all()
      .get(1)
      ?.clients.map(({ id }) => id),
    ["another"],
  );
});

test("an environment with clients of 21 keys doesn't hide the clients of others", () => {
  const clients = createClients(movableClock().clock);
  const idsOf = (environmentId: number) =>
    clients
      .all()
      .get(environmentId)
      ?.clients.map(({ id }) => id) ?? [];
  clients.polls({ environmentId: 1, keyId: "early" }, "early");
  for (let key = 0; key < 21; key += 1) {
    for (let program = 0; program < 1_000; program += 1) {
      clients.polls({ environmentId: 2, keyId: `key-${key}` }, `${program}`);
    }
  }
  clients.polls({ environmentId: 3, keyId: "late" }, "late");
  clients.reports(
    { environmentId: 3, keyId: "late" },
    { id: "late", name: "shop", sdk: "js/1", revision: "7-a" },
  );
  assert.deepEqual([idsOf(1), idsOf(3)], [["early"], ["late"]]);
  assert.equal(idsOf(2).length, 19_998, "of all together 20,000");
  // A second large environment gets half of the places.
  for (let program = 0; program < 10_000; program += 1) {
    clients.polls({ environmentId: 3, keyId: `other-${program % 10}` }, `${program}`);
  }
  const places = [1, 2, 3].map((id) => idsOf(id).length).sort((one, other) => one - other);
  assert.deepEqual(places, [1, 9_999, 10_000]);
});
