// The OFREP providers that others publish, with the OpenFeature SDKs, against a started server.
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, type TestContext, test } from "node:test";
import { OFREPProvider } from "@openfeature/ofrep-provider";
import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";
import { OpenFeature as ServerSide } from "@openfeature/server-sdk";
import { type Provider, ProviderEvents, OpenFeature as WebSide } from "@openfeature/web-sdk";
import { EventSource } from "undici";
import { changeFlag, makeFlag } from "./support/ofrep.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
  // What a browser has and Node has not.
  Object.assign(globalThis, { EventSource });
});
after(async () => {
  await ServerSide.close();
  await WebSide.close();
  await server.close();
});

const headersOf = (key: string): [string, string][] => [["Authorization", `Bearer ${key}`]];

/** A client of a domain of its own, so that tests do not meet in the SDK's one registry. */
const serverClient = async (domain: string, headers: [string, string][]) => {
  const provider = new OFREPProvider({ baseUrl: server.url, headers });
  await ServerSide.setProviderAndWait(domain, provider);
  return ServerSide.getClient(domain);
};

test("server side: values and reasons", async () => {
  const { admin, keys } = await server.environment();
  await makeFlag(admin, { key: "off", type: "boolean" });
  await makeFlag(admin, { key: "on", type: "boolean", enabled: true });
  await makeFlag(admin, { key: "some", type: "rollout", percentage: 50, enabled: true });
  for (const headers of [
    headersOf(keys.client),
    [["X-API-Key", keys.server]] as [[string, string]],
  ]) {
    const client = await serverClient(`values-${headers[0]?.[0]}`, headers);
    for (const [key, value, reason] of [
      ["off", false, "DISABLED"],
      ["on", true, undefined],
    ] as const) {
      const details = await client.getBooleanDetails(key, !value);
      assert.deepEqual(
        [details.value, details.reason, details.variant, details.errorCode],
        [value, "STATIC", value ? "on" : "off", undefined],
      );
      assert.equal(details.flagMetadata.reason, reason);
    }
    const values = new Set<boolean>();
    for (let user = 0; user < 20; user++) {
      const context = { targetingKey: `user-${user}`, plan: "premium" };
      const details = await client.getBooleanDetails("some", false, context);
      assert.equal(details.reason, "SPLIT");
      values.add(details.value);
      assert.equal(await client.getBooleanValue("some", !details.value, context), details.value);
    }
    assert.equal(values.size, 2);
  }
});

test("server side: errors", async () => {
  const { admin, keys } = await server.environment();
  await makeFlag(admin, { key: "on", type: "boolean", enabled: true });
  await makeFlag(admin, { key: "some", type: "rollout", percentage: 50, enabled: true });
  const client = await serverClient("errors", headersOf(keys.client));
  for (const [key, errorCode, word] of [
    ["missing", "FLAG_NOT_FOUND", "missing"],
    ["no key", "FLAG_NOT_FOUND", "no key"],
    ["some", "TARGETING_KEY_MISSING", "targetingKey"],
  ] as const) {
    const details = await client.getBooleanDetails(key, true);
    assert.deepEqual([details.value, details.reason], [true, "ERROR"], key);
    assert.equal(details.errorCode, errorCode);
    assert.ok(details.errorMessage?.includes(word), String(details.errorMessage));
  }
  const wrongType = await client.getStringDetails("on", "default");
  assert.deepEqual([wrongType.value, wrongType.errorCode], ["default", "TYPE_MISMATCH"]);
  const stranger = await serverClient("stranger", headersOf("nonsense"));
  const refused = await stranger.getBooleanDetails("on", false);
  assert.deepEqual([refused.value, refused.errorCode], [false, "GENERAL"]);
});

/** Notes what goes over the wire. */
const recorder = () => {
  const seen: { readonly status: number; readonly url: string; readonly conditional: boolean }[] =
    [];
  const record: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const response = await fetch(request);
    seen.push({
      status: response.status,
      url: request.url,
      conditional: request.headers.has("if-none-match"),
    });
    return response;
  };
  return { seen, record };
};

const webClient = async (
  t: TestContext,
  domain: string,
  key: string,
  context: Record<string, string>,
  options: Partial<ConstructorParameters<typeof OFREPWebProvider>[0]> = {},
) => {
  const { seen, record } = recorder();
  const provider = new OFREPWebProvider({
    baseUrl: server.url,
    headers: headersOf(key),
    fetchImplementation: record,
    cacheMode: "disabled",
    ...options,
  });
  t.after(() => provider.onClose?.());
  // Its types are made without exactOptionalPropertyTypes.
  await WebSide.setProviderAndWait(domain, provider as Provider, context);
  return { client: WebSide.getClient(domain), seen };
};

/** The keys of the flags that the next change event names. */
const nextChange = (client: ReturnType<typeof WebSide.getClient>): Promise<readonly string[]> =>
  new Promise((resolve) => {
    const heard = (details?: object) => {
      const { flagsChanged = [] } = details as { flagsChanged?: string[] };
      // What it asks for when its stream opens changes nothing.
      if (flagsChanged.length === 0) return;
      client.removeHandler(ProviderEvents.ConfigurationChanged, heard);
      resolve(flagsChanged);
    };
    client.addHandler(ProviderEvents.ConfigurationChanged, heard);
  });

test("in a page: values, reasons and errors, from one request", async (t) => {
  const { admin, keys } = await server.environment();
  await makeFlag(admin, { key: "on", type: "boolean", enabled: true });
  await makeFlag(admin, { key: "some", type: "rollout", percentage: 50, enabled: true });
  const { client, seen } = await webClient(t, "page", keys.client, {});
  const on = client.getBooleanDetails("on", false);
  assert.deepEqual([on.value, on.reason, on.variant], [true, "STATIC", "on"]);
  assert.equal(client.getBooleanDetails("some", false).errorCode, "TARGETING_KEY_MISSING");
  assert.equal(client.getBooleanDetails("missing", false).errorCode, "FLAG_NOT_FOUND");
  assert.equal(client.getNumberDetails("on", 1).errorCode, "TYPE_MISMATCH");
  await WebSide.setContext("page", { targetingKey: "user-1" });
  assert.equal(client.getBooleanDetails("some", false).reason, "SPLIT");
  assert.deepEqual(
    seen.map(({ status, conditional }) => [status, conditional]),
    [
      [200, false],
      [200, false],
    ],
  );
});

test("in a page: a changed flag arrives through the event stream", async (t) => {
  const { admin, keys } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean" });
  await makeFlag(admin, { key: "b", type: "boolean" });
  const { client, seen } = await webClient(t, "stream", keys.client, { targetingKey: "user-1" });
  const isRefetch = ({ url }: { readonly url: string }) => url.includes("flagConfigEtag=");
  // A stream that opens asks for one: beside a change, the older of two answers could come last.
  await until("the stream is open", () => seen.some(isRefetch));
  for (const enabled of [true, false, true]) {
    const changed = nextChange(client);
    await changeFlag(admin, "a", { enabled });
    assert.deepEqual(await changed, ["a"]);
    assert.equal(client.getBooleanValue("a", !enabled), enabled);
  }
  const refetches = seen.filter(isRefetch);
  assert.ok(refetches.length > 3);
  assert.ok(
    refetches.every(({ url, conditional }) => url.includes("LastModified=") && conditional),
  );
});

test("in a page: another attribute of the context is asked with the old tag, and 304 keeps the values", async (t) => {
  const { admin, keys } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean", enabled: true });
  const { client, seen } = await webClient(
    t,
    "polling",
    keys.client,
    { targetingKey: "user-1" },
    { changeDetection: "polling", pollInterval: 20 },
  );
  await WebSide.setContext("polling", { targetingKey: "user-1", plan: "premium" });
  assert.deepEqual([seen.at(-1)?.status, seen.at(-1)?.conditional], [304, true]);
  assert.equal(client.getBooleanValue("a", false), true);
  const changed = nextChange(client);
  await changeFlag(admin, "a", { enabled: false });
  assert.deepEqual(await changed, ["a"]);
  assert.equal(client.getBooleanValue("a", true), false);
  assert.ok(seen.some(({ status }) => status === 304));
});

test("in a page: a key that is not valid is fatal at once", async (t) => {
  await assert.rejects(webClient(t, "stranger", "nonsense", {}), (error: Error) =>
    String(error).includes("Initialization failed"),
  );
});

test("a page that is not ours may open the stream, without a key in a header", async () => {
  const { keys } = await server.environment();
  const response = await fetch(`${server.url}/ofrep/v1/evaluate/flags`, {
    method: "POST",
    headers: [...headersOf(keys.client), ["content-type", "application/json"]],
    body: '{"context":{}}',
  });
  const { eventStreams } = (await response.json()) as { eventStreams: [{ url: string }] };
  const source = new EventSource(eventStreams[0].url);
  try {
    await once(source, "open");
  } finally {
    source.close();
  }
});
