// The client without its connection: the flags it evaluates, its events and its end; and that it never throws.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { text } from "node:stream/consumers";
import { suite, test } from "node:test";
import { type Cache, createClient, type EvaluationContext, type Flag } from "@halyard/sdk";
import { until } from "../../server/test/support/until.ts";
import { clientOf, key } from "./support/clients.ts";
import {
  booleanFlag,
  openStream,
  scriptedServer,
  snapshotText,
} from "./support/scripted-server.ts";

const stream = "GET /api/v1/stream";
const nowhere = "http://127.0.0.1:9";
const rollout: Flag = {
  key: "r",
  type: "rollout",
  enabled: true,
  percentage: 50,
  description: null,
};

suite("answers", () => {
  test("nothing that an application hands in makes it throw", (t) => {
    const { client } = clientOf(t, nowhere, { bootstrap: [rollout, booleanFlag("a", true)] });
    const throwing = {
      get targetingKey(): string {
        throw new Error("no");
      },
    };
    const odd: unknown[] = [
      undefined,
      null,
      7,
      "x",
      [],
      {},
      { targetingKey: 7 },
      { targetingKey: "" },
      throwing,
    ];
    for (const context of odd) {
      assert.equal(client.isEnabled("r", context as never, true), true);
      assert.deepEqual(
        client.details("r", context as never, true).errorCode,
        "TARGETING_KEY_MISSING",
      );
      assert.equal(client.isEnabled("a", context as never), true);
    }
    for (const name of [undefined, null, 7, {}, "__proto__", "constructor"]) {
      assert.equal(client.isEnabled(name as never, {}, true), true);
      assert.equal(client.details(name as never).errorCode, "FLAG_NOT_FOUND");
    }
    assert.equal(client.isEnabled("missing"), false);
  });

  test("the published cases, through the client", (t) => {
    const file = new URL("../../../conformance/evaluation.json", import.meta.url);
    const { cases } = JSON.parse(readFileSync(file, "utf8")) as {
      cases: { flag: Flag; context: EvaluationContext; expected: Record<string, unknown> }[];
    };
    assert.ok(cases.length >= 200);
    for (const { flag, context, expected } of cases) {
      const { client } = clientOf(t, nowhere, { bootstrap: [flag] });
      const { value, variant, reason, errorCode } = client.details(flag.key, context, true);
      const message = JSON.stringify({ flag, context });
      if (expected.errorCode === undefined) {
        assert.deepEqual({ value, variant, reason }, expected, message);
      } else {
        assert.deepEqual([value, errorCode], [true, expected.errorCode], message);
      }
      assert.equal(client.isEnabled(flag.key, context, true), value, message);
      void client.close();
    }
  });

  test("mistakes in the options are named at once", () => {
    for (const url of ["", "flags.example.com", "ftp://example.com", undefined, "https://a?b"]) {
      assert.throws(() => createClient({ url: url as string, key }), /url must be/);
    }
    const secret = "https://me:s3cret@flags.example.com";
    assert.throws(
      () => createClient({ url: secret, key }),
      (error: Error) => /without a password$/.test(error.message) && !/s3cret/.test(error.message),
    );
    for (const bad of ["", "a b", "ü", "a\n", undefined]) {
      assert.throws(() => createClient({ url: nowhere, key: bad as string }), /key must be/);
    }
  });
});

suite("before the server answers", () => {
  const cacheOf = (kept?: string): Cache & { kept: string | undefined; saves: number } => ({
    kept,
    saves: 0,
    load() {
      return Promise.resolve(this.kept);
    },
    save(saved) {
      this.saves += 1;
      this.kept = saved;
      return Promise.resolve();
    },
  });

  test("a cache that throws once is saved to again", async (t) => {
    let revision = 0;
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        revision += 1;
        openStream(response);
        response.write(snapshotText(`${revision}-a`, booleanFlag("a", revision === 1)));
      },
    });
    let calls = 0;
    const cache: Cache = {
      load: () => Promise.resolve(undefined),
      save() {
        calls += 1;
        if (calls === 1) throw new Error("disk full");
        return Promise.resolve();
      },
    };
    const { client, errors } = clientOf(t, server.url, { cache });
    await client.ready();
    await until("the failure", () => errors().length === 1);
    server.cut();
    await until("the second save", () => calls > 1);
  });

  test("the cache holds what was last known, over the bootstrap and under the server", async (t) => {
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        openStream(response);
        response.write(snapshotText("1-a", booleanFlag("a", true), booleanFlag("b", true)));
      },
    });
    const cache = cacheOf();
    const first = clientOf(t, server.url, { cache });
    await first.client.ready();
    await first.client.close();
    assert.equal(cache.saves, 1);

    const withCache = clientOf(t, nowhere, { cache });
    assert.deepEqual(await withCache.client.ready({ allowStale: true }), { ok: true });
    assert.equal(withCache.client.isEnabled("a"), true);

    const second = clientOf(t, nowhere, { cache, bootstrap: [booleanFlag("a", false)] });
    assert.deepEqual(await second.client.ready({ allowStale: true }), { ok: true });
    assert.equal(second.client.isEnabled("a"), false);
    await until("the kept flags", () => second.client.isEnabled("a"));
    assert.deepEqual(second.changed(), ["a", "b"]);
    assert.equal(second.client.state, "connecting");
    assert.equal((await second.client.ready({ timeout: 1 })).ok, false);
    await second.client.close();
    assert.equal(cache.saves, 1, "what was not the server's is not kept");
  });

  test("kept flags that arrive after the server's are not used", async (t) => {
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        openStream(response);
        response.write(snapshotText("1-a", booleanFlag("a", true)));
      },
    });
    const loading = Promise.withResolvers<string | undefined>();
    const cache = { ...cacheOf(), load: () => loading.promise };
    const { client } = clientOf(t, server.url, { cache });
    await client.ready();
    loading.resolve(JSON.stringify({ format: 1, flags: [booleanFlag("a", false)] }));
    await loading.promise;
    await new Promise(setImmediate);
    assert.equal(client.isEnabled("a"), true);
  });

  for (const [name, cache, failures] of [
    ["loads nonsense", cacheOf("{"), 1],
    ["loads another format", cacheOf('{"format":3,"flags":[]}'), 0],
    ["loads null", cacheOf("null"), 0],
    ["fails to load", { ...cacheOf(), load: () => Promise.reject(new Error("disk")) }, 1],
    ["fails to save", { ...cacheOf(), save: () => Promise.reject(new Error("disk")) }, 1],
    [
      "throws",
      {
        load() {
          throw new Error("disk");
        },
        save() {
          throw new Error("disk");
        },
      },
      2,
    ],
  ] as readonly [string, Cache, number][]) {
    test(`a cache that ${name} harms nothing`, async (t) => {
      const server = await scriptedServer(t, {
        [stream]: (response) => {
          openStream(response);
          response.write(snapshotText("1-a", booleanFlag("a", true)));
        },
      });
      const { client, errors } = clientOf(t, server.url, { cache });
      assert.deepEqual(await client.ready(), { ok: true });
      assert.equal(client.isEnabled("a"), true);
      await until("the failures", () => errors().length === failures);
      assert.ok(errors().every((code) => code === "CACHE_FAILED"));
    });
  }
});

suite("the end", () => {
  test("a closed client answers on, connects no more and can be closed again", async (t) => {
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        openStream(response);
        response.write(snapshotText("1-a", booleanFlag("a", true)));
      },
    });
    const { client, names } = clientOf(t, server.url);
    await client.ready();
    await Promise.all([client.close(), client.close()]);
    await client.close();
    assert.equal(client.state, "closed");
    assert.equal(client.isEnabled("a"), true);
    assert.equal((await client.ready()).ok, false);
    assert.deepEqual(names(), ["ready", "closed"]);
    assert.equal(server.received.length, 1);
  });

  test("closing ends the waits for readiness and a connection that hangs", async (t) => {
    const server = createServer(() => {}).listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => server.close());
    const { port } = server.address() as { port: number };
    const { client } = clientOf(t, `http://127.0.0.1:${port}`);
    const waits = client.ready({ timeout: 60_000 });
    await client.close();
    assert.deepEqual(await waits, { ok: false, error: client.error });
    assert.equal(client.error?.code, "CLOSED");
  });

  test("a program that leaves its client open can end while the server is away", async () => {
    const program = `
      import { createClient } from "@halyard/sdk";
      const client = createClient({ url: "${nowhere}", key: "${key}" });
      const ready = await client.ready({ timeout: 300 });
      console.log(ready.ok, ready.error.code, client.state);
    `;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      cwd: import.meta.dirname,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [output, warning, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit"),
    ]);
    assert.equal(output, "false UNREACHABLE connecting\n");
    assert.match(warning, /^Halyard: the server cannot be reached: [^\n]*\n$/, "once");
    assert.equal(status, 0);
  });
});
