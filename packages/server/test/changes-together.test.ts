// Changes of one environment that are made at once are committed together, and each is still all or nothing.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { verification } from "./support/history-export.ts";
import { startTestServer } from "./support/server.ts";

const server = await startTestServer();
after(() => server.close());

const count = 60;
const numbers = Array.from({ length: count }, (_, index) => index);

const prepare = async () => {
  const environment = await server.environment();
  const { admin } = environment;
  for (const key of ["a", "b", "c"]) await admin("POST", "/flags", { key, type: "rollout" });
  // Opens as many connections, so that what follows arrives at once.
  await Promise.all(numbers.map(() => admin("GET", "/flags/a")));
  return environment;
};

test("a list that is refused halfway takes no other change with it, and leaves nothing", async () => {
  const environment = await prepare();
  const { admin } = environment;
  const answers = await Promise.all(
    numbers.map((index) =>
      index % 3 === 1
        ? admin("POST", "/changes", {
            changes: [
              { flag: "a", patch: { description: `refused ${index}` } },
              { flag: "b", ifMatch: "999", patch: { enabled: true } },
            ],
          })
        : admin("PATCH", `/flags/${index % 3 === 0 ? "a" : "c"}`, { description: `${index}` }),
    ),
  );
  for (const [index, { status }] of answers.entries()) {
    assert.equal(status, index % 3 === 1 ? 412 : 200, `number ${index}`);
  }
  assert.doesNotMatch(JSON.stringify((await admin("GET", "/flags")).body), /refused/);
  const log = (await admin("GET", "/events?limit=100")).body as { sequence: number }[];
  const made = 3 + answers.filter(({ status }) => status === 200).length;
  assert.deepEqual(
    log.map(({ sequence }) => sequence),
    Array.from({ length: made }, (_, index) => index + 1),
  );
  assert.partialDeepStrictEqual(await verification(environment), { verified: true });
});

test("each of many changes of one flag sees the one before it", async () => {
  const { admin } = await prepare();
  const answers = await Promise.all(
    numbers.map((index) => admin("PATCH", "/flags/a", { description: `${index}` })),
  );
  const versions = answers.map(({ headers }) => Number(headers.get("etag")?.slice(1, -1)));
  assert.deepEqual(
    versions.toSorted((a, b) => a - b),
    numbers.map((index) => index + 2),
  );
});

test("changes among others that change nothing and others that are refused see the ones before them", async () => {
  const environment = await prepare();
  const { admin } = environment;
  const answers = await Promise.all(
    numbers.map((index) => {
      if (index % 4 === 0) return admin("PATCH", "/flags/a", { description: `${index}` });
      if (index % 4 === 1) return admin("PATCH", "/flags/a", { enabled: false });
      if (index % 4 === 2) return admin("PATCH", "/flags/none", { enabled: true });
      return admin("PATCH", "/flags/b", { description: `${index}` });
    }),
  );
  const answersOf = (rest: number) => answers.filter((_, index) => index % 4 === rest);
  const versionOf = ({ headers }: { headers: Headers }) =>
    Number(headers.get("etag")?.slice(1, -1));
  const versions = (rest: number) => answersOf(rest).map(versionOf);
  const made = Array.from({ length: count / 4 }, (_, index) => index + 2);
  for (const rest of [0, 3]) {
    assert.deepEqual(
      versions(rest).toSorted((a, b) => a - b),
      made,
    );
  }
  const descriptionOf = ({ body }: { body: unknown }) =>
    (body as { description: string | null }).description;
  const described = new Map([
    [1, null],
    ...answersOf(0).map((answer) => [versionOf(answer), descriptionOf(answer)] as const),
  ]);
  for (const unchanged of answersOf(1)) {
    assert.equal(descriptionOf(unchanged), described.get(versionOf(unchanged)));
  }
  assert.deepEqual(
    answers.map(({ status }) => status),
    numbers.map((index) => (index % 4 === 2 ? 404 : 200)),
  );
  assert.partialDeepStrictEqual(await verification(environment), { verified: true });
});
