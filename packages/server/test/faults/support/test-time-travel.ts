// What was given then is told exactly: evaluations are recorded while everything changes at random, and each is asked for again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "@halyard/sdk";
import { startTestServer } from "../../support/server.ts";
import { until } from "../../support/until.ts";
import { createRandomChanges } from "./random-changes.ts";
import { createRandom } from "./seeded-random.ts";

export const testTimeTravel = (size: {
  readonly changes: number;
  readonly singles: number;
  readonly every: number;
  readonly contexts: number;
  readonly explained: number;
  readonly byTime: number;
}): void => {
  /** How many changes; how many flags are asked for one by one after each; how often the SDK is asked, with how many contexts. */

  type Context = Readonly<Record<string, unknown>>;

  /** What was given, without what each way of asking says in its own words. */
  interface Given {
    readonly value?: unknown;
    readonly variant?: string | undefined;
    readonly reason?: string | undefined;
    readonly rule?: string | undefined;
    readonly errorCode?: string | undefined;
  }

  interface Recorded {
    readonly by: "OFREP" | "OFREP bulk" | "SDK";
    readonly revision: number;
    readonly key: string;
    readonly context: Context;
    readonly given: Given;
  }

  interface Answered extends Given {
    readonly key: string;
    readonly metadata?: { readonly reason?: string; readonly rule?: string };
  }

  const given = ({ value, variant, reason, rule, errorCode }: Given): Given =>
    errorCode === undefined ? { value, variant, reason, rule } : { errorCode };

  /** The protocol's reasons are fewer; ours stand beside. */
  const overOfrep = ({ metadata, ...rest }: Answered): Given =>
    given({ ...rest, reason: metadata?.reason ?? rest.reason, rule: metadata?.rule });

  type SdkClient = ReturnType<typeof createClient>;

  /** A fallback of each type: what the flag gives is of one of them. */
  const inSdk = (client: SdkClient, key: string, context: Context): Given => {
    const details = client.details(key, context, false);
    return given(
      details.errorCode === "TYPE_MISMATCH" ? client.details(key, context, "") : details,
    );
  };

  test("everything that was ever given is given again, by revision and by time", async (t) => {
    const server = await startTestServer();
    t.after(() => server.close());
    const { keys, admin, server: reader } = await server.environment();
    const changes = createRandomChanges(admin, createRandom(20_261_116));
    const live = createClient({ url: server.url, key: keys.server });
    t.after(() => live.close());
    await live.ready();
    await admin("POST", "/flags", {
      key: "marker",
      type: "variant",
      valueType: "number",
      variants: { off: -1, on: 0 },
      off: "off",
      otherwise: "on",
    });
    await admin("PATCH", "/flags/marker", { enabled: true });

    const recorded: Recorded[] = [];
    const revisionNow = async () =>
      Number(/\d+/.exec((await reader("GET", "/flags?limit=1")).headers.get("etag") ?? "")?.[0]);
    let revision = await revisionNow();
    let made = 0;

    const recordOverOfrep = async () => {
      const path = "//ofrep/v1/evaluate/flags";
      const context = changes.context();
      const bulk = (await reader("POST", path, { context })).body as { flags: Answered[] };
      for (const each of bulk.flags) {
        if (each.key === "marker") continue;
        recorded.push({
          by: "OFREP bulk",
          revision,
          key: each.key,
          context,
          given: overOfrep(each),
        });
      }
      for (let index = 0; index < size.singles; index += 1) {
        const [key, whom] = [changes.flagKey(), changes.context()];
        const answer = await reader("POST", `${path}/${key}`, { context: whom });
        const one = overOfrep(answer.body as Answered);
        recorded.push({ by: "OFREP", revision, key, context: whom, given: one });
      }
    };

    /** Once the client has this change, it has all before it and none after. */
    const recordInSdk = async (number: number) => {
      await admin("PATCH", "/flags/marker", { variants: { off: -1, on: number } });
      await until("the client has it", () => live.numberValue("marker", {}, -1) === number);
      revision = await revisionNow();
      for (let index = 0; index < size.contexts; index += 1) {
        const context = changes.context();
        for (const { key } of live.flags()) {
          if (key === "marker") continue;
          recorded.push({ by: "SDK", revision, key, context, given: inSdk(live, key, context) });
        }
      }
    };

    for (let number = 1; made < size.changes; number += 1) {
      await changes.change();
      const before = revision;
      revision = await revisionNow();
      made += revision - before;
      await recordOverOfrep();
      if (number % size.every === 0) await recordInSdk(number);
    }

    // Every one of them, through the snapshot of its revision.
    const byRevision = Map.groupBy(recorded, (each) => each.revision);
    let differences = 0;
    for (const [then, those] of byRevision) {
      const snapshot = await reader("GET", `/snapshot?revision=${then}`);
      assert.equal(snapshot.status, 200, snapshot.text);
      const client = createClient({ bootstrap: snapshot.body as never });
      for (const { by, key, context, given: wanted } of those) {
        const found = inSdk(client, key, context);
        if (JSON.stringify(found) === JSON.stringify(wanted)) continue;
        differences += 1;
        t.diagnostic(`${by} ${key} ${then} ${JSON.stringify({ context, wanted, found })}`);
      }
      await client.close();
    }
    assert.equal(differences, 0);

    // A part of them with every step, by revision and by time.
    const history = new Map<number, string>();
    for (let path: string | undefined = "/history?limit=1000"; path !== undefined; ) {
      const page = await admin("GET", path);
      for (const entry of page.body as { revision: number | null; createdAt: string }[]) {
        if (entry.revision !== null) history.set(entry.revision, entry.createdAt);
      }
      path = /<\/api\/v1([^>]*)>/.exec(page.headers.get("link") ?? "")?.[1];
    }
    const explain = async (recording: Recorded, when: object) => {
      const { key, context, given: wanted, by, revision: then } = recording;
      const answer = await admin("POST", `/flags/${key}/explain`, { context, ...when });
      const found =
        answer.status === 404
          ? { errorCode: "FLAG_NOT_FOUND" }
          : given(answer.body as Given & { revision: number });
      assert.deepEqual(found, wanted, `${by} ${key} ${JSON.stringify({ context, when })}`);
      if (answer.status === 200) assert.equal((answer.body as { revision: number }).revision, then);
    };
    const part = (count: number) => {
      const step = Math.max(1, Math.floor(recorded.length / count));
      return recorded.filter((_, index) => index % step === 0);
    };
    const explained = part(size.explained);
    for (const each of explained) await explain(each, { revision: each.revision });
    // A time names the last revision that was made then.
    const timed = part(size.byTime).filter(
      (each) => history.get(each.revision) !== history.get(each.revision + 1),
    );
    assert.ok(timed.length > 0);
    for (const each of timed) await explain(each, { at: history.get(each.revision) });
    const count = (by: Recorded["by"]) => recorded.filter((each) => each.by === by).length;
    t.diagnostic(
      `${recorded.length} evaluations over ${made} changes: ${count("OFREP bulk")} bulk and ${count("OFREP")} single over OFREP, ${count("SDK")} in the SDK; ${explained.length} explained by revision, ${timed.length} by time; ${differences} differences`,
    );
  });
};
