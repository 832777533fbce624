// Halyard's own ways to evaluate the flag of bench/peers/engines.js, and the bare loop that is the ceiling.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { evaluate } from "../../packages/core/src/evaluate.ts";
import { type Flag, prepare } from "../../packages/core/src/flags/registry.ts";
import { createClient } from "../../packages/sdk/src/client/client.ts";
import type { Client } from "../../packages/sdk/src/client/client-options.ts";

/** Goes once through all keys and gives the number of those that have the flag. */
export type Pass = () => number | Promise<number>;
export type Engine = (keys: readonly string[]) => Pass | Promise<Pass>;

const flag = {
  key: "new-checkout",
  type: "rollout",
  enabled: true,
  percentage: 50,
  description: null,
} as const;

/** MurmurHash3 of texts that are ASCII and already put together, and one comparison: nothing can be left out. */
const bare: Engine = (keys) => {
  const texts = keys.map((key) => Buffer.from(`${flag.key}:${key}`).toString("latin1"));
  const hashOf = (text: string): number => {
    let hash = 0;
    let index = 0;
    for (; index + 3 < text.length; index += 4) {
      let group = text.charCodeAt(index) | (text.charCodeAt(index + 1) << 8);
      group |= (text.charCodeAt(index + 2) << 16) | (text.charCodeAt(index + 3) << 24);
      group = Math.imul(group, 0xcc9e2d51);
      hash ^= Math.imul((group << 15) | (group >>> 17), 0x1b873593);
      hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
    }
    let rest = 0;
    for (let shift = 0; index < text.length; index += 1, shift += 8) {
      rest |= text.charCodeAt(index) << shift;
    }
    rest = Math.imul(rest, 0xcc9e2d51);
    hash ^= Math.imul((rest << 15) | (rest >>> 17), 0x1b873593) ^ text.length;
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  };
  return () => {
    let on = 0;
    for (const text of texts) if (hashOf(text) < 2 ** 31) on += 1;
    return on;
  };
};

const prepared: Engine = (keys) => {
  const ready = prepare(flag);
  const contexts = keys.map((targetingKey) => ({ targetingKey }));
  return () => {
    let on = 0;
    for (const context of contexts) {
      const evaluation = evaluate(ready, context);
      if ("value" in evaluation && evaluation.value) on += 1;
    }
    return on;
  };
};

/** A connected client: its flag came over a stream, and its usage is counted and reported. */
export const connectedClient = async (flag: Flag, level?: number): Promise<Client> => {
  const at = new Date().toISOString();
  const entry = { version: 1, flag, level };
  const environment = { environment: "bench", revision: 1, at, flags: [entry] };
  const server = createServer((request, response) => {
    if (request.url !== "/api/v1/stream") {
      request.resume();
      response.writeHead(204).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    response.write(
      `retry: 2000\n\nid: 1-1\nevent: snapshot\ndata: ${JSON.stringify(environment)}\n\n`,
    );
    setInterval(() => response.write(":\n\n"), 15_000).unref();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const halyard = createClient({ url: `http://127.0.0.1:${port}`, key: "bench-key-0123456789" });
  if (!(await halyard.ready({ timeout: 10_000 })).ok) throw new Error("The client is not ready.");
  return halyard;
};

const client: Engine = async (keys) => {
  const halyard = await connectedClient(flag);
  const contexts = keys.map((targetingKey) => ({ targetingKey }));
  return () => {
    let on = 0;
    for (const context of contexts) if (halyard.isEnabled(flag.key, context)) on += 1;
    return on;
  };
};

export const ownEngines: Readonly<Record<string, Engine>> = { bare, prepared, client };
