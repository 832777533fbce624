// Programs that come and go do not fill the memory, although nobody asks who is there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createClients } from "../src/evaluation/clients.ts";
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
