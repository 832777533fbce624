// What takes the protection off an environment, or goes around it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import { signInAs } from "./support/people.ts";
import { act, propose, protectedEnvironment, setProtected } from "./support/protected.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("taking the protection off is proposed, and whoever asked for it cannot approve it", async () => {
  const { name, asBen, newKey } = await protectedEnvironment(server);
  const olga = await signInAs(server, { name: "Olga", owner: true });
  const asOlga = olga.in(name);
  const [path, off] = [`/environments/${name}`, { protected: false }];
  const shown = async () =>
    ((await asOlga("GET", "/environments")).body as { name: string; protected: boolean }[]).find(
      (each) => each.name === name,
    )?.protected;
  const request = await propose(asOlga, off, path);
  assert.equal(await shown(), true, "nothing has changed");
  assertRefused(await act(asOlga, request, "approve"), 403, "your own");
  assert.equal((await act(asBen, request, "approve")).status, 200);
  assert.equal(await shown(), false);

  // Neither does a key of an owner, which nobody is behind.
  await setProtected(server, name, true);
  const asKey = server.api(await newKey("owner"));
  await propose(asKey, off, path);
  assert.equal(await shown(), true);
  assertRefused(await asKey("PATCH", `${path}?bypass=true`, off), 400, "reason");
  assert.equal((await asKey("PATCH", `${path}?bypass=true&reason=broken`, off)).status, 200);
  assert.equal(await shown(), false);
});
