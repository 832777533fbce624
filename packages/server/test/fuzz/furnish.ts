// An environment with something of everything in it, and the words that mean something there.
import fc from "fast-check";
import type { Api } from "../support/api.ts";
import type { Operation } from "./document.ts";
import type { Place } from "./requests.ts";

const idOf = (body: unknown): string => (body as { readonly id: string }).id;

export const furnish = async (
  operation: Operation,
  api: Api,
  admin: string,
  owner: string,
  receiverUrl: string,
  ofEach: number,
): Promise<Place> => {
  const keys = { admin, owner, server: "", client: "" };
  for (const role of ["server", "client"] as const) {
    const { body } = await api("POST", "/keys", { name: role, role });
    keys[role] = (body as { readonly key: string }).key;
  }
  const spareKeys: string[] = [];
  for (let count = 0; count < ofEach; count += 1) {
    spareKeys.push(
      idOf((await api("POST", "/keys", { name: `spare ${count}`, role: "client" })).body),
    );
  }
  const webhooks: string[] = [];
  for (let count = 0; count < ofEach; count += 1) {
    const { body } = await api("POST", "/webhooks", { url: receiverUrl, events: ["flag.deleted"] });
    webhooks.push(idOf(body));
  }
  const flags = Array.from({ length: ofEach }, (_, index) => `flag-${index}`);
  for (const [index, key] of flags.entries()) {
    const type = index % 2 === 0 ? "boolean" : "rollout";
    await api("POST", "/flags", { key, type, ...(type === "rollout" && { percentage: 50 }) });
    if (index % 3 === 0) await api("PATCH", `/flags/${key}`, { enabled: true });
  }
  const segments = Array.from({ length: ofEach }, (_, index) => `segment-${index}`);
  for (const key of segments) await api("POST", "/segments", { key, include: ["user-1"] });
  const [first = ""] = webhooks;
  const deliveries: string[] = [];
  for (let count = 0; count < Math.min(3, ofEach); count += 1) {
    deliveries.push(idOf((await api("POST", `/webhooks/${first}/test`)).body));
  }
  if (operation.path.endsWith("/{id}/replay")) {
    for (const id of webhooks) await api("POST", `/webhooks/${id}/replay`, { afterSequence: 0 });
  }
  const requests: string[] = [];
  if (operation.path.includes("/change-requests")) {
    for (const key of flags) {
      const body = { description: "as proposed" };
      const operations = [{ kind: "flag", key, action: "patch", body }];
      requests.push(idOf((await api("POST", "/change-requests", { operations })).body));
    }
  }
  const asOwner: Api = (method, path, body) => api(method, path, body, { "x-api-key": owner });
  const users: string[] = [];
  const environments: string[] = [];
  if (operation.path.includes("/users/{")) {
    for (let count = 0; count < ofEach; count += 1) {
      users.push(idOf((await asOwner("POST", "/users", { name: `Person ${count}` })).body));
    }
  }
  if (operation.path.includes("/environments/{")) {
    for (let count = 0; count < 6; count += 1) {
      const name = `spare-${operation.method.toLowerCase()}-${count}`;
      environments.push(name);
      await asOwner("POST", "/environments", { name });
    }
  }
  const bulk = await api("POST", "//ofrep/v1/evaluate/flags", { context: {} });
  const { eventStreams } = bulk.body as { readonly eventStreams: readonly { url: string }[] };
  const token = new URL(eventStreams[0]?.url ?? "").searchParams.get("token") ?? "";
  const time = fc.constantFrom(
    "2026-11-14T12:00:00Z",
    "2000-01-01T00:00:00.000Z",
    new Date().toISOString(),
  );
  return {
    keys,
    names: {
      flags,
      segments,
      // Deliveries belong to a webhook, and only the first one has some.
      webhooks: operation.path.includes("/deliveries/") ? [first] : webhooks,
      deliveries,
      keys: spareKeys,
      "change-requests": requests,
      users,
      environments,
      // Keys have none: only people who are signed in do.
      "personal-keys": ["none"],
    },
    meanings: {
      url: fc.constantFrom(
        receiverUrl,
        `${receiverUrl}?a=b`,
        ...["https://127.0.0.1:8443/x", "http://[::1]:9/", "https://10.0.0.1/", "ftp://127.0.0.1/"],
        ...["https://u:p@127.0.0.1/", "https://127.0.0.1/#f", "https://", "not an address", "//x"],
        `http://127.0.0.1:9/${"a".repeat(2_100)}`,
      ),
      events: fc.subarray(["flag.created", "flag.deleted", "*", "flag.enabled"], { minLength: 1 }),
      from: time,
      to: time,
      since: time,
      until: time,
      reason: fc.constantFrom("An incident", "100 % & more", "\u00fc \u{1f389}"),
      token: fc.constant(token),
    },
  };
};
