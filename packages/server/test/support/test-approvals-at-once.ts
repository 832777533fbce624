// Approvals that arrive together, or together with other changes: a request is applied once, and overwrites nothing.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { Api } from "./api.ts";
import { addPerson, signInAs, signInUser } from "./people.ts";
import { act, flagOf, propose, protectedEnvironment, read } from "./protected.ts";
import { startTestServer, type TestServer } from "./server.ts";

interface Size {
  readonly crowd: number;
  /** At least two of each pause, of ten, between the two requests. */
  readonly rounds: number;
}

export const testApprovalsAtOnce = ({ crowd, rounds }: Size): void => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  test(`${crowd} people approve at once: it is applied once`, async () => {
    const { name, asAda, admin } = await protectedEnvironment(server);
    const people: Api[] = [];
    const ids: string[] = [];
    for (let each = 0; each < crowd; each += 1) {
      ids.push(await addPerson(server, { name: `P${each}`, roles: { [name]: "editor" } }));
    }
    for (const id of ids) people.push((await signInUser(server, id)).in(name));
    const revision = (await admin("GET", "/flags")).headers.get("etag");
    const made = await propose(asAda, { enabled: true });
    const answers = await Promise.all(people.map((api) => act(api, made, "approve")));
    assert.deepEqual(
      answers.map(({ status }) => status).sort((a, b) => a - b),
      [200, ...Array.from({ length: crowd - 1 }, () => 409)],
    );
    const { approvals, appliedRevision } = await read(admin, made);
    assert.equal(approvals.length, 1);
    assert.equal(`"${appliedRevision}"`, (await admin("GET", "/flags")).headers.get("etag"));
    assert.equal(revision, `"${(appliedRevision ?? 0) - 1}"`, "one revision");
    const events = (await admin("GET", "/events?limit=10")).body as { type: string }[];
    assert.equal(events.filter(({ type }) => type === "flag.enabled").length, 1);
    assert.equal(events.filter(({ type }) => type === "change_request.applied").length, 1);
  });

  test("an approval that races with a change never loses it", async () => {
    const { name, asAda, asBen, admin } = await protectedEnvironment(server);
    const owner = (await signInAs(server, { name: "Olga", owner: true })).in(name);
    for (let round = 0; round < rounds; round += 1) {
      const made = await propose(asAda, { description: `request ${round}` });
      // Sent a little apart, so that now the one is first, now the other.
      const approve = () => act(asBen, made, "approve");
      const [approved, direct] = await Promise.all([
        setTimeout(round % 10).then(approve),
        owner("PATCH", "/flags/checkout?bypass=true&reason=race", {
          description: `direct ${round}`,
        }),
      ]);
      assert.equal(direct.status, 200, direct.text);
      assert.ok([200, 409].includes(approved.status), approved.text);
      // The request was made before both: it comes first, or not at all.
      assert.equal((await flagOf(admin)).description, `direct ${round}`);
      if (approved.status === 409) assert.equal((await act(asAda, made, "withdraw")).status, 200);
    }
  });
};
