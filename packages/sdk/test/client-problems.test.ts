// What keeps a client from its flags is said once, with what to check, and is in ready() and error.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { until } from "../../server/test/support/until.ts";
import type { ClientError } from "../src/index.ts";
import { clientOf, contextClientOf } from "./support/clients.ts";
import { type ScriptedServer, scriptedServer, sendJson } from "./support/scripted-server.ts";

interface Case {
  readonly what: string;
  readonly code: ClientError["code"];
  readonly said: RegExp;
  /** Absent if no server listens. */
  readonly answer?: Parameters<ScriptedServer["answer"]>[1];
}

const routes = [
  "GET /api/v1/stream",
  "GET /api/v1/snapshot",
  "POST /ofrep/v1/evaluate/flags",
] as const;

const cases: readonly Case[] = [
  {
    what: "a refused key",
    code: "UNAUTHORIZED",
    said: /^Halyard: the server responded with 401: The API key is not valid\. Check the key: .* The last known values or the fallbacks apply\.$/,
    answer: (response) =>
      sendJson(response, 401, { error: "UNAUTHORIZED", message: "The API key is not valid." }),
  },
  {
    what: "the address of something else",
    code: "UNEXPECTED_ANSWER",
    said: /^Halyard: the server's response is not .* Check that http:\S+ is a Halyard server at least as new as this SDK\./,
    answer: (response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<p>Welcome</p>"),
  },
  {
    what: "a server that is too old",
    code: "UNEXPECTED_ANSWER",
    said: /^Halyard: the server responded with 404: .*\. Check that http:\S+ is a Halyard server at least as new as this SDK\./,
    answer: (response) =>
      sendJson(response, 404, { error: "NOT_FOUND", message: "There is no such path." }),
  },
  {
    what: "an address that redirects",
    code: "UNEXPECTED_ANSWER",
    said: /^Halyard: the server redirects to https:\/\/flags\.example\.com\/: use the address of the server itself\./,
    answer: (response) =>
      response.writeHead(301, { location: "https://flags.example.com/" }).end("moved"),
  },
  {
    what: "an address where no server listens",
    code: "UNREACHABLE",
    said: /^Halyard: the server cannot be reached: .* Check that http:\S+ is a Halyard server/,
  },
];

for (const [name, create] of [
  ["createClient", clientOf],
  ["createContextClient", contextClientOf],
] as const) {
  suite(name, () => {
    for (const { what, code, said, answer } of cases) {
      test(what, async (t) => {
        const server = await scriptedServer(t);
        if (answer) for (const route of routes) server.answer(route, answer);
        const warnings: string[] = [];
        const { client, count } = create(t, answer ? server.url : "http://127.0.0.1:9", {
          log: (message) => void warnings.push(message),
        });
        await until("several attempts", () => count("error") > 3);
        const ready = await client.ready({ timeout: 1 });
        assert.equal(ready.ok ? undefined : ready.error.code, code);
        assert.equal(client.error?.code, code);
        assert.equal(warnings.length, 1, warnings.join("\n"));
        assert.match(warnings[0] ?? "", said);
      });
    }
  });
}
