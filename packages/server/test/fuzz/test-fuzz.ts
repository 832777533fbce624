// Thousands of generated requests to every operation of /openapi.json: none may fail, every answer must be a declared one.
import assert from "node:assert/strict";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { composeOperator, parseConfig } from "@halyard/server";
import fc from "fast-check";
import { createApi } from "../support/api.ts";
import { type RunningServer, serveHalyard } from "../support/halyard-process.ts";
import { signInAs } from "../support/people.ts";
import { newFolder } from "../support/server.ts";
import { storeSettings } from "../support/test-store.ts";
import { type Operation, readDocument } from "./document.ts";
import { type Client, createClient, type Request } from "./exchange.ts";
import { furnish } from "./furnish.ts";
import { requestsTo } from "./requests.ts";

interface Size {
  /** Requests to each operation. */
  readonly runs: number;
  /** About one request in ten succeeds where that is hardest: of few requests, it may be none. */
  readonly least: number;
  /** What requests name and delete: not so much that making it takes longer than the requests. */
  readonly ofEach: number;
}

const seed = Number(process.env.HALYARD_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
const connections = 6;
/** Each operation has an environment of its own, so that none finds what another has left. */
const environments = 96;
const adminKey = (index: number): string => `fuzz-admin-key-${index}-of-its-own`;

/** For these, a person has to sign in. */
const isForPeople = ({ path }: Operation): boolean =>
  /\/personal-keys|\/change-requests\/\{id\}\/(approve|refuse|bypass)$/.test(path);
/** Approval applies a request: only one whose flags changed in the meantime can be applied later. */
const neverSucceeds = new Set(["POST /api/v1/change-requests/{id}/apply"]);

export const testFuzz = ({ runs, least, ofEach }: Size): void => {
  let server: RunningServer;
  let ownerKey: string;
  let receiver: Server;
  let client: Client;
  let operations: readonly Operation[];
  const folder = newFolder();

  before(async () => {
    receiver = createServer((request, response) => {
      request.resume();
      response.writeHead(204).end();
    }).listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const names = Array.from(
      { length: environments },
      (_, index) => `fuzz-${index}=${adminKey(index)}`,
    );
    server = await serveHalyard(folder, {
      HALYARD_BOOTSTRAP_KEYS: names.join(","),
      HALYARD_MAX_ENVIRONMENTS: "10000",
    });
    const operator = await composeOperator(parseConfig(await storeSettings(folder)));
    const [home] = await operator.environments.list();
    const issued = { role: "owner", name: "owner" } as const;
    ownerKey = (await operator.keys.createAsOperator(home?.id ?? 0, issued)).text;
    await operator.close();
    client = createClient(server.url, connections);
    operations = await readDocument(server.url);
  });
  after(async () => {
    client.close();
    receiver.close();
    receiver.closeAllConnections();
    server.kill("SIGTERM");
    await server.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  const shown = ({ method, target, headers, body }: Request): string =>
    JSON.stringify({
      method,
      target: target.slice(0, 300),
      headers,
      body: body?.toString("latin1").slice(0, 600),
    });

  /** The newest answers to so many at a time; in the order of the requests. */
  const inTurns = async <T>(
    items: readonly T[],
    work: (item: T) => Promise<void>,
  ): Promise<void> => {
    const waiting = items.values();
    const workers = Array.from({ length: connections }, async () => {
      for (const item of waiting) await work(item);
    });
    await Promise.all(workers);
  };

  test(`${runs} requests to every operation, seed ${seed}`, async (t) => {
    t.diagnostic(`HALYARD_FUZZ_SEED=${seed} brings the same requests back`);
    assert.ok(operations.length >= 30 && operations.length <= environments);
    const faults: string[] = [];
    let cut = 0;
    const statuses = new Map<number, number>();
    const oneSided: string[] = [];
    const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;

    for (const [index, operation] of operations.entries()) {
      const where = { url: server.url, folder };
      const person = isForPeople(operation) && (await signInAs(where, { owner: true }));
      const place = await furnish(operation, {
        url: server.url,
        admin: adminKey(index),
        owner: ownerKey,
        session: person ? person.headersFor(`fuzz-${index}`) : undefined,
        receiverUrl,
        ofEach,
      });
      const requests = fc.sample(requestsTo(operation, place), {
        numRuns: runs,
        seed: seed + index,
      });
      const answered = { good: 0, refused: new Map<string, number>() };
      await inTurns(requests, async (request) => {
        const answer = await client.send(request);
        if (!answer) {
          // A body that is not read to its end may cost the client the answer, and nothing else may.
          cut += 1;
          if ((request.body?.length ?? 0) <= 262_144) faults.push(`no answer to ${shown(request)}`);
          return;
        }
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        if (answer.status < 400) answered.good += 1;
        else {
          const why = `${answer.status} ${answer.text.slice(0, 120)}`;
          answered.refused.set(why, (answered.refused.get(why) ?? 0) + 1);
        }
        const fault = operation.faultOf(answer);
        if (fault === undefined) return;
        faults.push(
          `${operation.name}: ${fault}\n  asked ${shown(request)}\n  got ${answer.status} ${JSON.stringify(answer.headers)} ${answer.text.slice(0, 300)}`,
        );
      });
      const commonest = [...answered.refused].toSorted(([, a], [, b]) => b - a).slice(0, 3);
      if (answered.good < least && !neverSucceeds.has(operation.name)) {
        const reasons = commonest.map(([why, count]) => `\n  ${count} times ${why}`).join("");
        oneSided.push(`${operation.name} succeeded only ${answered.good} times${reasons}`);
      }
      if (operation.role && commonest.length === 0 && least > 0) {
        oneSided.push(`${operation.name} rejects nothing`);
      }
    }
    t.diagnostic(`answers by status: ${JSON.stringify(Object.fromEntries(statuses))}, cut ${cut}`);
    assert.deepEqual(oneSided, [], oneSided.join("\n"));
    assert.equal(faults.length, 0, `${faults.length} faults\n${faults.slice(0, 12).join("\n")}`);
  });

  test("afterwards the server is well, and what it holds is whole", async () => {
    for (const index of operations.keys()) {
      const api = createApi(server.url, adminKey(index));
      const listed = await api("GET", "/flags");
      assert.equal(listed.status, 200);
      const flags = listed.body as { readonly key: string }[];
      const keys = flags.map(({ key }) => key);
      assert.deepEqual(keys, keys.toSorted());
      for (const flag of flags.slice(0, 3)) {
        assert.deepEqual((await api("GET", `/flags/${flag.key}`)).body, flag);
      }
      const all = await api("POST", "//ofrep/v1/evaluate/flags", {
        context: { targetingKey: "u" },
      });
      const evaluated = (all.body as { flags: { key: string }[] }).flags.map(({ key }) => key);
      assert.deepEqual(evaluated, keys);
      for (const path of ["/webhooks", "/keys", "/history", "/usage"]) {
        assert.equal((await api("GET", path)).status, 200, path);
      }
    }
    assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
    server.kill("SIGTERM");
    const { code, stdout, stderr } = await server.ended;
    assert.equal(code, 0);
    assert.doesNotMatch(stdout + stderr, /a request failed|"level":(50|60)/);
  });
};
