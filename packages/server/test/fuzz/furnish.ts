// An environment with something of everything in it, and the words that mean something there.
import assert from "node:assert/strict";
import fc from "fast-check";
import { type Api, createApi } from "../support/api.ts";
import type { Operation } from "./document.ts";
import type { Place } from "./requests.ts";

interface Wanted {
  readonly url: string;
  readonly admin: string;
  readonly owner: string;
  /** The session of an owner in the environment, for operations that no key can use. */
  readonly session: Readonly<Record<string, string>> | undefined;
  readonly receiverUrl: string;
  /** How many of each to make. */
  readonly ofEach: number;
}

type Call = (method: string, path: string, body?: unknown) => Promise<unknown>;

const idOf = (body: unknown): string => (body as { readonly id: string }).id;
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

/** Calls that must succeed. */
const succeeding =
  (api: Api, headers: Readonly<Record<string, string>> = {}): Call =>
  async (method, path, body) => {
    const answer = await api(method, path, body, headers);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return answer.body;
  };

const cursorsOf = async (api: Api, path: string): Promise<readonly string[]> => {
  const answer = await api("GET", `/${path}?limit=1`);
  const [, next] = /<([^>]*)>; rel="next"/.exec(answer.headers.get("link") ?? "") ?? [];
  const cursor = next && new URL(next, "http://localhost").searchParams.get("cursor");
  return cursor ? [cursor] : [];
};

export const furnish = async (operation: Operation, wanted: Wanted): Promise<Place> => {
  const { method, path } = operation;
  const { url, admin, owner, session, receiverUrl, ofEach } = wanted;
  const api = createApi(url, admin);
  const call = succeeding(api);
  const asOwner = succeeding(createApi(url, owner));
  const asPerson = succeeding(createApi(url), session);
  const times = async <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> => {
    const made: T[] = [];
    for (let index = 0; index < count; index += 1) made.push(await make(index));
    return made;
  };
  const ids = (made: (index: number) => Promise<unknown>, count = ofEach): Promise<string[]> =>
    times(count, async (index) => idOf(await made(index)));

  const keyOf = async (role: "server" | "client"): Promise<string> =>
    ((await call("POST", "/keys", { name: role, role })) as { readonly key: string }).key;
  const keys = { admin, owner, server: await keyOf("server"), client: await keyOf("client") };
  const spareKeys = await ids((index) =>
    call("POST", "/keys", { name: `spare ${index}`, role: "client" }),
  );
  const webhooks = await ids(() =>
    call("POST", "/webhooks", { url: receiverUrl, events: ["flag.deleted"] }),
  );
  const flags = await times(ofEach, async (index) => {
    const key = `flag-${index}`;
    const type = index % 2 === 0 ? "boolean" : "rollout";
    await call("POST", "/flags", { key, type, ...(type === "rollout" && { percentage: 50 }) });
    if (index % 3 === 0) await call("PATCH", `/flags/${key}`, { enabled: true });
    return key;
  });
  const segments = await times(ofEach, async (index) => {
    await call("POST", "/segments", { key: `segment-${index}`, include: ["user-1"] });
    return `segment-${index}`;
  });
  const [first = ""] = webhooks;
  const deliveries = await ids(() => call("POST", `/webhooks/${first}/test`), Math.min(3, ofEach));
  if (path.endsWith("/{id}/replay")) {
    for (const id of webhooks) await call("POST", `/webhooks/${id}/replay`, { afterSequence: 0 });
  }
  const makesIf = (part: string): number => (path.includes(part) ? ofEach : 0);
  const requests = await ids(async (index) => {
    const body = { description: "as proposed" };
    const operations = [{ kind: "flag", key: flags[index], action: "patch", body }];
    return call("POST", "/change-requests", { operations });
  }, makesIf("/change-requests"));
  const users = await ids(
    (index) => asOwner("POST", "/users", { name: `Person ${index}` }),
    makesIf("/users/{"),
  );
  const environments = await times(makesIf("/environments/{"), async (index) => {
    const name = `spare-${method.toLowerCase()}-${index}`;
    await asOwner("POST", "/environments", { name });
    return name;
  });
  const personalKeys = await ids(
    (index) =>
      asPerson("POST", "/personal-keys", {
        name: `own ${index}`,
        role: "server",
        expiresAt: inDays(1),
      }),
    makesIf("/personal-keys/{"),
  );
  const bulk = await call("POST", "//ofrep/v1/evaluate/flags", { context: {} });
  const { eventStreams } = bulk as { readonly eventStreams: readonly { url: string }[] };
  const token = new URL(eventStreams[0]?.url ?? "").searchParams.get("token") ?? "";
  const time = fc.constantFrom(
    "2026-11-14T12:00:00Z",
    "2000-01-01T00:00:00.000Z",
    new Date().toISOString(),
  );
  // One flag, since the body repeats its key.
  const named = path.startsWith("/openfeature/") && method === "PUT" ? flags.slice(0, 1) : flags;
  const names = {
    flags: named,
    segments,
    // Deliveries belong to a webhook, and only the first one has some.
    webhooks: path.includes("/deliveries/") ? [first] : webhooks,
    deliveries,
    keys: spareKeys,
    "change-requests": requests,
    users,
    environments,
    "personal-keys": personalKeys,
  };
  const listed = path
    .replace("/api/v1/", "")
    .replace(
      /(?<=([a-z-]+)\/)\{[a-zA-Z]+\}/g,
      (_, kind: keyof typeof names) => names[kind][0] ?? "",
    );
  const isList = operation.parameters.some(({ name }) => name === "cursor");
  const cursors = isList ? await cursorsOf(api, listed) : [];
  return {
    keys,
    session,
    names,
    meanings: {
      url: fc.constantFrom(
        ...[receiverUrl, `${receiverUrl}?a=b`, `${receiverUrl}?a=c`],
        ...["https://127.0.0.1:8443/x", "http://[::1]:9/", "https://10.0.0.1/", "ftp://127.0.0.1/"],
        ...["https://u:p@127.0.0.1/", "https://127.0.0.1/#f", "https://", "not an address", "//x"],
        `http://127.0.0.1:9/${"a".repeat(2_100)}`,
      ),
      events: fc.subarray(["flag.created", "flag.deleted", "*", "flag.enabled"], { minLength: 1 }),
      from: time,
      to: time,
      since: time,
      until: time,
      expiresAt: fc.option(fc.integer({ min: 1, max: 300 }).map(inDays)),
      reason: fc.constantFrom("An incident", "100 % & more", "\u00fc \u{1f389}"),
      ...(users.length > 0 && { account: fc.constantFrom(...users) }),
      token: fc.constant(token),
    },
    parameters: {
      at: fc.constant(new Date().toISOString()),
      revision: fc.integer({ min: 1, max: ofEach }),
      cursor: fc.constantFrom(...(cursors.length > 0 ? cursors : [undefined])),
      subject: fc.constantFrom("flag", "segment", "webhook"),
      // Deletes an environment with its flags.
      flags: fc.constant(true),
    },
  };
};
