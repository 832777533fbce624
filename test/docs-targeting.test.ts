// The jobs of docs/target.md, as JSON: a server takes each of them, and the people of the page get what the page says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestServer } from "../packages/server/test/support/server.ts";
import { jobsOf } from "./support/targeting-page.ts";

interface Answer {
  readonly value?: unknown;
  readonly errorCode?: string;
}

test("the people of docs/target.md get what stands there", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { admin, client } = await server.environment();
  const jobs = jobsOf();
  assert.equal(jobs.filter(({ title }) => /^\d+\. /.test(title)).length, 10);
  for (const { title, segments, flags, asked, people } of jobs) {
    for (const segment of segments) {
      const made = await admin("POST", "/segments", segment);
      assert.equal(made.status, 201, `${title}: ${made.text}`);
    }
    for (const flag of flags) {
      const made = await admin("POST", "/flags", flag);
      assert.equal(made.status, 201, `${title}: ${made.text}`);
      assert.equal((await admin("PATCH", `/flags/${flag.key}`, { enabled: true })).status, 200);
    }
    assert.ok(new Set(people.map(({ gets }) => gets)).size > 1, `${title}: some in, some out`);
    for (const { context, gets } of people) {
      for (const key of asked) {
        const { body } = await client("POST", `//ofrep/v1/evaluate/flags/${key}`, { context });
        const { value, errorCode } = body as Answer;
        const given = errorCode ?? JSON.stringify(value);
        assert.equal(given, gets, `${title}: ${key} for ${JSON.stringify(context)}`);
      }
    }
  }
});
