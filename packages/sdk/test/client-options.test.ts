// What programs get wrong when they create a client or listen to it: each mistake is reported, and none stops the client.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { until } from "../../server/test/support/until.ts";
import { createContextClient } from "../src/browser-client/context-client.ts";
import { createClient } from "../src/client/client.ts";
import type { ClientError } from "../src/transport/client-error.ts";
import { bulkServer } from "./support/bulk-server.ts";
import { clientOf, contextClientOf } from "./support/clients.ts";
import {
  booleanFlag,
  openStream,
  scriptedServer,
  snapshotText,
} from "./support/scripted-server.ts";

const nowhere = "http://127.0.0.1:9";

const flagServer = (t: Parameters<typeof scriptedServer>[0]) =>
  scriptedServer(t, {
    "GET /api/v1/stream": (response) => {
      openStream(response);
      response.write(snapshotText("1-a", booleanFlag("a", true)));
    },
  });

type Wrong = readonly [options: object, message: RegExp];
const wrong: readonly Wrong[] = [
  [{ streamng: false }, /^unknown option streamng; the known options are .*log, .*streaming, /],
  [{ toString: 1 }, /^unknown option toString; /],
  [{ streaming: "no" }, /^the option streaming must be boolean, but is string$/],
  [{ reportUsage: 0 }, /^the option reportUsage must be boolean, but is number$/],
  [{ reportUsage: null }, /^the option reportUsage must be boolean, but is null$/],
  [{ fetch: "node-fetch" }, /^the option fetch must be function, but is string$/],
  [{ fetch: false }, /^the option fetch must be function, but is boolean$/],
  [{ log: true }, /^the option log must be function or false, but is boolean$/],
  [{ timing: { pollIntervall: 5 } }, /^unknown option timing\.pollIntervall; .*pollInterval, /],
  [
    { timing: { pollInterval: "5" } },
    /^the option timing\.pollInterval must be number, but is string/,
  ],
  [
    { timing: { pollInterval: Number.NaN } },
    /^the option timing\.pollInterval must .*, but is NaN$/,
  ],
  [{ timing: { pollInterval: -1 } }, /^the option timing\.pollInterval must .*, but is -1$/],
];

for (const { name, create, plain, serve, own } of [
  {
    name: "createClient",
    create: clientOf,
    plain: createClient,
    serve: flagServer,
    own: [
      [{ context: {} }, /^unknown option context; /],
      [{ bootstrap: "[]" }, /^the option bootstrap must be array or object, but is string$/],
      [{ overrides: null }, /^the option overrides must be object, but is null$/],
      [{ overrides: [] }, /^the option overrides must be object, but is array$/],
      [{ cache: { load: () => {} } }, /^the option cache must have the functions load and save$/],
      [{ name: 7 }, /^the option name must be string, but is number$/],
      [{ sampleContexts: "yes" }, /^the option sampleContexts must be boolean, /],
      [{ reportApplied: "no" }, /^the option reportApplied must be boolean, /],
    ] as Wrong[],
  },
  {
    name: "createContextClient",
    create: contextClientOf,
    plain: createContextClient,
    serve: bulkServer,
    own: [
      [{ cache: {} }, /^unknown option cache; /],
      [{ context: "ada" }, /^the option context must be object, but is string$/],
      [{ bootstrap: [] }, /^the option bootstrap must be object, but is array$/],
      [{ keepPreviousValues: 1 }, /^the option keepPreviousValues must be boolean, /],
    ] as Wrong[],
  },
] as const) {
  suite(name, () => {
    for (const [options, message] of [...wrong, ...own]) {
      test(`throws at once: ${message.source}`, (t) => {
        assert.throws(() => create(t, nowhere, options), { name: "TypeError", message });
      });
    }

    test("throws at once without options", () => {
      const withNone: (none: never) => unknown = plain;
      for (const none of [undefined, null, "http://127.0.0.1:9"]) {
        assert.throws(() => withNone(none as never), /^TypeError: the options must be an object$/);
      }
    });

    test("takes undefined for an option that is left out", (t) => {
      create(t, nowhere, { streaming: undefined, fetch: undefined, timing: {} } as object);
    });

    test("logs a listener that throws or rejects, and calls the others", async (t) => {
      const server = await serve(t);
      const logged: [message: string, error: ClientError][] = [];
      const { client } = create(t, server.url, {
        log: (...entry: [string, ClientError]) => void logged.push(entry),
      });
      const heard: string[] = [];
      const [thrown, rejected] = [new Error("thrown"), new TypeError("rejected")];
      client.on("ready", () => {
        throw thrown;
      });
      client.on("ready", () => Promise.reject(rejected));
      client.on("ready", () => {
        // As text, this throws once more.
        throw Object.create(null);
      });
      client.on("ready", () => heard.push("removed"))();
      client.on("ready", () => heard.push("kept"));
      assert.deepEqual(await client.ready(), { ok: true });
      await until("both", () => logged.length === 2);
      assert.deepEqual(heard, ["kept"]);
      assert.deepEqual(
        logged.map(([message]) => message),
        [
          'Halyard: a listener of "ready" failed. Error: thrown',
          'Halyard: a listener of "ready" failed. TypeError: rejected',
        ],
      );
      assert.deepEqual(
        logged.map(([, { code, cause }]) => [code, cause]),
        [
          ["LISTENER_FAILED", thrown],
          ["LISTENER_FAILED", rejected],
        ],
      );
      assert.equal(client.state, "live");
    });

    test("is closed at the end of an await using block", async (t) => {
      const server = await serve(t);
      let left: { readonly state: string };
      {
        await using client = create(t, server.url).client;
        await client.ready();
        left = client;
        assert.equal(left.state, "live");
      }
      assert.equal(left.state, "closed");
    });
  });
}
