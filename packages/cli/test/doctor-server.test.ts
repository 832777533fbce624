// halyard doctor for a running server: availability, version, clock and key.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { parseConfig, startServer } from "@halyard/server";
import { createApi } from "../../server/test/support/api.ts";
import { unhurried } from "../../server/test/support/test-store.ts";
import { makeStore, newPath } from "./support/backup-store.ts";
import { examine, examineAlone, found } from "./support/doctor.ts";

const serve = async (answer: RequestListener) => {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

suite("a server", () => {
  test("that is healthy, with a key and without, and with its database available", async (t) => {
    const { folder, keys } = await makeStore();
    const config = {
      HALYARD_DATA: folder,
      PORT: "0",
      HALYARD_LOG_LEVEL: "silent",
      HALYARD_MAX_LAG: unhurried,
    };
    const server = await startServer(parseConfig(config));
    t.after(() => server.close());
    const key = keys.production ?? "";
    const api = createApi(server.url, key);
    await api("POST", "/webhooks", { url: "https://192.0.31.1/hook", events: ["*"] });
    const [, , up, clock, ...none] = await examineAlone(["--url", server.url]);
    assert.deepEqual([up, none], [`ok server: ${server.url} is up and ready`, []]);
    assert.equal(clock, "ok clock: the server's clock agrees with this machine's");
    const known = await examineAlone([], { HALYARD_URL: server.url, HALYARD_API_KEY: key });
    found(known, /^ok callbacks: 1 active webhook, none of them with problems/);
    found(known, /^ok keys: 1 key in 1 environment, last used /);
    found(
      await examineAlone(["--url", server.url, "--key", "hal_0_nonsense-nonsense-nonsense"]),
      /^fail keys: .* \| check --key/,
    );
    const both = await examine(["--data", folder, "--url", server.url, "--key", key]);
    assert.deepEqual(both.lines, []);
    assert.deepEqual(
      both.checks.map(({ about }) => about),
      [..."node,settings,database,secret key,callbacks,keys,history,server,clock".split(",")],
    );
  });

  test("from the settings is checked with --data, and no other", async (t) => {
    const { folder, keys } = await makeStore();
    const config = {
      HALYARD_DATA: folder,
      PORT: "0",
      HALYARD_LOG_LEVEL: "silent",
      HALYARD_MAX_LAG: unhurried,
    };
    const server = await startServer(parseConfig(config));
    t.after(() => server.close());
    const calls: string[] = [];
    const other = await serve(({ url }, response) => {
      calls.push(url ?? "");
      response.end('{"status":"ok"}');
    });
    t.after(() => other.close());
    const profiles = join(newPath(), "config.json");
    mkdirSync(dirname(profiles));
    const profile = { url: other.url, key: "hal_0_nonsense-nonsense-nonsense" };
    writeFileSync(profiles, JSON.stringify({ current: "other", profiles: { other: profile } }), {
      mode: 0o600,
    });
    const settings = { PORT: new URL(server.url).port };
    const named = { HALYARD_URL: other.url, HALYARD_CONFIG: profiles };
    for (const [args, variables] of [
      [[], named],
      [["--key", keys.production ?? ""], {}],
    ] as const) {
      const { checks } = await examine(["--data", folder, ...args], { ...settings, ...variables });
      const up = checks.find(({ about }) => about === "server");
      assert.equal(up?.message, `${server.url} is up and ready`);
    }
    assert.deepEqual(calls, []);
  });

  test("at a specified address is checked without the database, with a note", async (t) => {
    const { folder } = await makeStore();
    const server = await serve((_request, response) => void response.end('{"status":"ok"}'));
    t.after(() => server.close());
    const settings = { HALYARD_DATA: folder, HALYARD_URL: server.url };
    const { checks } = await examine([], settings);
    assert.deepEqual(
      checks.map(({ about }) => about),
      ["node", "settings", "database", "server", "clock"],
    );
    assert.equal(
      checks[2]?.message,
      `not checked, because HALYARD_URL names a server; --data ${folder} checks the database`,
    );
    const both = await examine(["--data", folder], settings);
    assert.ok(both.checks.some(({ about }) => about === "history"));
  });

  const answers: Record<string, { answer: RequestListener; finds: RegExp }> = {
    "that is something else": {
      answer: (_request, response) => void response.end("hello"),
      finds: /^fail server: .* does not respond like a Halyard server .* \| check the address/,
    },
    "that is not ready": {
      answer: ({ url }, response) =>
        void response.writeHead(url === "/readyz" ? 503 : 200).end('{"status":"ok"}'),
      finds: /^fail server: .* is up but not ready \(\/readyz: 503\) \| its log has the cause/,
    },
    "of another version": {
      answer: ({ url }, response) =>
        void response.end(
          url === "/openapi.json" ? '{"info":{"version":"9.9.9"}}' : '{"status":"ok"}',
        ),
      finds:
        /^warn server: the server is Halyard 9\.9\.9 and this command is \S+ \| use the command/,
    },
    "whose clock is behind": {
      answer: (_request, response) =>
        void response
          .setHeader("date", new Date(Date.now() - 60_000).toUTCString())
          .end('{"status":"ok"}'),
      finds: /^warn clock: .* are (5\d|6[0-9]) seconds apart \| .*NTP/,
    },
    "whose clock is far off": {
      answer: (_request, response) =>
        void response
          .setHeader("date", new Date(Date.now() + 600_000).toUTCString())
          .end('{"status":"ok"}'),
      finds: /^fail clock: .* are (5[5-9]|6[0-4])\d seconds apart \| .*NTP/,
    },
  };
  for (const [name, { answer, finds }] of Object.entries(answers)) {
    test(name, async (t) => {
      const server = await serve(answer);
      t.after(() => server.close());
      found(await examineAlone(["--url", server.url]), finds);
    });
  }

  test("that does not exist, and a missing profile", async () => {
    found(
      await examineAlone(["--url", "http://127.0.0.1:1"]),
      /^fail server: no server responds at http:\/\/127\.0\.0\.1:1 \| start it/,
    );
    found(await examineAlone(["--profile", "none"]), /^fail server: There is no profile "none"/);
  });
});
