// Several instances on one store: what one of them has answered, the management API of every other shows at once.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Answer, Api } from "./api.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./server.ts";

export const testFreshness = ({ rounds }: { readonly rounds: number }): void => {
  const servers: TestServer[] = [];
  let environment: TestEnvironment;
  /** The same key on every instance. */
  let apis: Api[];

  before(async () => {
    const first = await startTestServer();
    servers.push(first);
    for (let count = 0; count < 2; count += 1) {
      servers.push(await startTestServer({ HALYARD_DATA: first.folder }));
    }
    environment = await first.environment();
    apis = servers.map((server) => server.api(environment.keys.admin));
  });
  after(async () => {
    for (const server of servers.toReversed()) await server.close();
  });

  /** In each round another instance writes, and what it answers is held against all the others. */
  const inTurns = async (
    work: (writer: Api, others: readonly Api[], round: number) => Promise<void>,
  ): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      const writer = apis[round % apis.length];
      assert.ok(writer);
      await work(
        writer,
        apis.filter((api) => api !== writer),
        round,
      );
    }
  };

  const ok = (answer: Answer, status: number): Answer => {
    assert.equal(answer.status, status, answer.text);
    return answer;
  };
  const idsOf = ({ body }: Answer) => (body as { id: string }[]).map(({ id }) => id);

  test("flags, their lists and their history", async () => {
    let listTag = "";
    await inTurns(async (writer, others, round) => {
      const key = `flag-${round}`;
      const made = ok(await writer("POST", "/flags", { key, type: "rollout" }), 201);
      for (const other of others) {
        const shown = ok(await other("GET", `/flags/${key}`), 200);
        assert.equal(shown.text, made.text);
        // A list that was kept for the revision before must not be given out.
        const headers = { "if-none-match": listTag };
        const list = ok(await other("GET", "/flags", undefined, headers), 200);
        assert.ok((list.body as { key: string }[]).some((flag) => flag.key === key));
      }
      const changed = ok(
        await writer("PATCH", `/flags/${key}`, { percentage: 5, enabled: true }),
        200,
      );
      for (const other of others) {
        const shown = ok(await other("GET", `/flags/${key}`), 200);
        assert.equal(shown.text, changed.text);
        assert.equal(shown.headers.get("etag"), changed.headers.get("etag"));
        const history = ok(await other("GET", `/flags/${key}/history`), 200);
        assert.equal((history.body as unknown[]).length, 2);
        const stale = { "if-match": String(made.headers.get("etag")) };
        ok(await other("PATCH", `/flags/${key}`, { enabled: false }, stale), 412);
      }
      if (round % 2 === 0) {
        ok(await writer("DELETE", `/flags/${key}`), 204);
        for (const other of others) ok(await other("GET", `/flags/${key}`), 404);
      }
      listTag = ok(await writer("GET", "/flags"), 200).headers.get("etag") ?? "";
      for (const other of others)
        ok(await other("GET", "/flags", undefined, { "if-none-match": listTag }), 304);
    });
  });

  test("webhooks", async () => {
    await inTurns(async (writer, others, round) => {
      const hook = { url: `http://127.0.0.1:9/${round}`, events: ["flag.deleted"] };
      const { id } = ok(await writer("POST", "/webhooks", hook), 201).body as { id: string };
      for (const other of others) ok(await other("GET", `/webhooks/${id}`), 200);
      const changed = ok(await writer("PATCH", `/webhooks/${id}`, { active: false }), 200);
      for (const other of others) {
        assert.equal(ok(await other("GET", `/webhooks/${id}`), 200).text, changed.text);
      }
      ok(await writer("DELETE", `/webhooks/${id}`), 204);
      for (const other of others) {
        ok(await other("GET", `/webhooks/${id}`), 404);
        assert.ok(!idsOf(ok(await other("GET", "/webhooks"), 200)).includes(id));
      }
    });
  });

  test("keys are listed and can be used", async () => {
    await inTurns(async (writer, others, round) => {
      const made = ok(await writer("POST", "/keys", { name: `key-${round}`, role: "server" }), 201);
      const { id, key } = made.body as { id: string; key: string };
      for (const other of others) {
        assert.ok(idsOf(ok(await other("GET", "/keys"), 200)).includes(id));
      }
      for (const server of servers) ok(await server.api(key)("GET", "/flags"), 200);
      ok(await writer("DELETE", `/keys/${id}`), 204);
      for (const other of others) {
        assert.ok(!idsOf(ok(await other("GET", "/keys"), 200)).includes(id));
      }
    });
  });
};
