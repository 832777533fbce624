// What a broken request costs: no operation takes much longer to refuse a body than to do what a valid one asks.
import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { after, before, test } from "node:test";
import { startTestServer, type TestEnvironment, type TestServer } from "../support/server.ts";

const size = 256 * 1_024;
/** Of the processor time of a valid request of the same size to the same operation. */
const mostTimes = 10;

interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly fields: readonly string[];
  readonly valid: string;
}

interface Described {
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly examples?: Readonly<Record<string, { readonly value: unknown }>> }>
    >;
  };
}

export const testRequestCost = ({ rounds }: { readonly rounds: number }): void => {
  let server: TestServer;
  let environment: TestEnvironment;
  let operations: Operation[];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  before(async () => {
    server = await startTestServer({ HALYARD_CALLBACK_ALLOW: "127.0.0.1" });
    environment = await server.environment();
    const { admin, keys } = environment;
    await admin("POST", "/flags", { key: "a", type: "rollout" });
    const hook = { url: "http://127.0.0.1:9/", events: ["*"] };
    const { id } = (await admin("POST", "/webhooks", hook)).body as { id: string };
    const { paths } = (await server.anonymous("GET", "//openapi.json")).body as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
    };
    operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => method !== "get")
        .map(([method, { requestBody }]) => {
          const [content] = Object.values(requestBody?.content ?? {});
          const [example] = Object.values(content?.examples ?? {});
          // A name that has to be looked up first would cost time of its own.
          const valid = JSON.stringify(path.endsWith("/webhooks") ? hook : (example?.value ?? {}));
          return {
            name: `${method} ${path}`,
            method: method.toUpperCase(),
            path: path.replace("{id}", id).replace("{key}", "a").replace("{deliveryId}", "dlv_1"),
            fields: Object.keys((example?.value ?? {}) as object),
            valid,
          };
        }),
    );
    operations.push({
      name: "post /session",
      method: "POST",
      path: "/session",
      fields: ["key"],
      valid: JSON.stringify({ key: keys.admin }),
    });
  });
  after(async () => {
    agent.destroy();
    await server.close();
  });

  const send = ({ method, path }: Operation, body: Buffer): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = {
        "content-type": "application/json",
        "content-length": body.length,
        ...(path !== "/session" && { "x-api-key": environment.keys.admin }),
      };
      request(server.url + path, { method, agent, headers }, (response) => {
        response.resume().once("end", () => resolve(response.statusCode ?? 0));
      })
        .once("error", reject)
        .end(body);
    });

  const filled = (begin: string, part: (at: number) => string, end: string): string => {
    const parts: string[] = [];
    let length = begin.length + end.length;
    for (let at = 0; ; at += 1) {
      const next = part(at);
      length += next.length + 1;
      if (length > size) return `${begin}${parts.join(",")}${end}`;
      parts.push(next);
    }
  };

  /** Rules and segments that look right for long, and are not. */
  const hostile: Readonly<Record<string, string>> = {
    "empty rules": filled('{"rules":[', () => "{}", "]}"),
    "wide conditions": filled(
      '{"otherwise":"on","rules":[{"serve":"on","when":{"any":[',
      () => "{}",
      "]}}]}",
    ),
    "conditions in a row": filled(
      '{"otherwise":"on","rules":[{"serve":"on","when":{"any":[',
      (at) => `{"attribute":"a${at}","op":"exists","value":true}`,
      "]}}]}",
    ),
    "many values": filled(
      '{"otherwise":"on","rules":[{"serve":"on","when":{"attribute":"a","op":"in","values":[',
      (at) => String(at),
      "]}}]}",
    ),
    "networks that are none": filled(
      '{"otherwise":"on","rules":[{"serve":"on","when":{"attribute":"a","op":"inCidr","values":[',
      () => '"::1/129"',
      "]}}]}",
    ),
    requirements: filled('{"requires":[', () => '{"flag":"a","variant":"on"}', "]}"),
    shares: filled(
      '{"rules":[{"when":{},"serve":[',
      () => '{"variant":"on","share":0.001}',
      "]}]}",
    ),
    "variants without values": filled('{"variants":{', (at) => `"v${at}":null`, "}}"),
    "members that are none": filled('{"include":[', () => "0", "]}"),
    "parts that are none": filled('{"include":{"add":[', () => "0", "]}}"),
    "changes of nothing": filled('{"changes":[', () => "{}", "]}"),
  };

  /** Bodies that no operation takes. */
  const brokenFor = ({ path, fields, valid }: Operation): Readonly<Record<string, string>> => ({
    ...(/\/(flags|segments|changes)/.test(path) && !path.includes("ofrep") && hostile),
    "unknown fields": filled("{", (at) => `"${at.toString(36)}":0`, "}"),
    "unknown fields and a comma": filled("{", (at) => `"${at.toString(36)}":0`, ",}"),
    "lists in lists": "[".repeat(size),
    "many deep lists": filled('{"x":[', () => `${"[".repeat(29)}${"]".repeat(29)}`, "]}"),
    "escaped strings": filled('{"x":[', () => '"\\u0061"', "]}"),
    "surrogate pairs": filled('{"x":[', () => '"\\ud83d\\ude00"', "]}"),
    "one escaped string": `{"x":"${"\\ud83d\\ude00".repeat(size / 13)}"}`,
    numbers: filled('{"x":[', () => "0", "]}"),
    "a long name": `{"${"a".repeat(size - 100)}":0}`,
    ...Object.fromEntries(
      fields.flatMap((field) => [
        [`objects as ${field}`, filled(`{"${field}":[`, () => "{}", "]}")],
        [`a long text as ${field}`, `{"${field}":"${"a".repeat(size - 100)}"}`],
        [`a list of texts as ${field}`, filled(`{"${field}":[`, () => '"a"', "]}")],
      ]),
    ),
    ...(valid.includes('"evaluations"') && {
      "entries with unknown fields": filled('{"evaluations":[', () => '{"a":0}', "]}"),
      "1,000 wrong entries": `{"evaluations":[${'{"key":0,"on":-1,"off":"","x":0},'.repeat(999)}{}]}`,
    }),
  });

  const middle = (values: number[]): number =>
    values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

  /** Milliseconds of processor time, here and in the server, which shares this process. */
  const costOf = async (operation: Operation, body: Buffer, times: number) => {
    const costs: number[] = [];
    let status = 0;
    for (let round = 0; round < times; round += 1) {
      const begun = process.cpuUsage();
      status = await send(operation, body);
      const { user, system } = process.cpuUsage(begun);
      costs.push((user + system) / 1_000);
    }
    return { status, cost: middle(costs) };
  };

  test("no broken request of 256 KiB costs ten times what a valid one of the same size does", async (t) => {
    assert.ok(operations.length >= 16, "every operation that takes a body");
    let [worst, worstName] = [0, ""];
    for (const operation of operations) {
      const valid = Buffer.from(operation.valid.padEnd(size));
      await costOf(operation, valid, 1);
      const usual = await costOf(operation, valid, 3 * rounds);
      for (const [kind, text] of Object.entries(brokenFor(operation))) {
        const broken = Buffer.from(text.padEnd(size).slice(0, size));
        const { cost, status } = await costOf(operation, broken, rounds);
        assert.ok(status >= 200 && status < 500 && status !== 429, `${operation.name}: ${status}`);
        let ratio = cost / usual.cost;
        // Something else was going on, perhaps: looked at more closely before it is believed.
        if (ratio > mostTimes / 2) {
          const [again, then] = [
            await costOf(operation, broken, 9),
            await costOf(operation, valid, 9),
          ];
          ratio = again.cost / then.cost;
        }
        if (ratio > worst) [worst, worstName] = [ratio, `${operation.name}: ${kind}`];
        assert.ok(ratio < mostTimes, `${operation.name}: ${kind} costs ${ratio.toFixed(1)} times`);
      }
    }
    t.diagnostic(`at most ${worst.toFixed(1)} times: ${worstName}`);
  });
};
