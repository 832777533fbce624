// Returned objects are read-only: a program that changes one cannot change later evaluations.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { createClient } from "@halyard/sdk";
import { createContextClient } from "@halyard/sdk/browser";
import { HalyardProvider } from "@halyard/sdk/openfeature/server";
import { HalyardWebProvider } from "@halyard/sdk/openfeature/web";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";

const theme = { colors: ["red", "blue"], button: { width: 10 } };
const flag = {
  key: "theme",
  type: "variant",
  valueType: "object",
  variants: { plain: theme },
  off: "plain",
  otherwise: "plain",
};
const context = { targetingKey: "user-7" };

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const newEnvironment = async () => {
  const { keys, admin } = await server.environment();
  const made = await admin("POST", "/flags", flag);
  assert.equal(made.status, 201, made.text);
  return { url: server.url, server: keys.server, client: keys.client };
};

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

/** Changes every member of it, at every depth. */
const spoil = (value: unknown): void => {
  if (!isFields(value)) return;
  for (const [name, member] of Object.entries(value)) {
    spoil(member);
    assert.throws(() => {
      value[name] = "changed";
    }, TypeError);
  }
  assert.throws(() => {
    value.added = true;
  }, TypeError);
};

const assertReadOnly = async (evaluate: () => unknown, expected: unknown = theme) => {
  spoil(await evaluate());
  assert.deepEqual(await evaluate(), expected);
};

suite("values of the server", () => {
  test("of a client for programs: values, details, and flags", async (t) => {
    const environment = await newEnvironment();
    const client = createClient({ url: environment.url, key: environment.server });
    t.after(() => client.close());
    assert.deepEqual(await client.ready(), { ok: true });
    await assertReadOnly(() => client.objectValue("theme", context, {}));
    await assertReadOnly(() => client.details("theme", context, {}), {
      value: theme,
      variant: "plain",
      reason: "DISABLED",
    });
    const [listed] = client.flags();
    await assertReadOnly(() => client.flags()[0], structuredClone(listed));
    assert.deepEqual(client.objectValue("theme", context, {}), theme);
  });

  test("of a client for pages: values, details, and all values", async (t) => {
    const environment = await newEnvironment();
    const client = createContextClient({ url: environment.url, key: environment.client, context });
    t.after(() => client.close());
    assert.deepEqual(await client.ready(), { ok: true });
    await assertReadOnly(() => client.objectValue("theme", {}));
    const details = client.details("theme", {});
    await assertReadOnly(() => client.details("theme", {}), structuredClone(details));
    await assertReadOnly(() => client.values().theme);
  });

  test("of both OpenFeature providers", async (t) => {
    const environment = await newEnvironment();
    const { url } = environment;
    const provider = new HalyardProvider({ url, key: environment.server });
    t.after(() => provider.onClose());
    await provider.initialize();
    await assertReadOnly(async () => {
      const { value } = await provider.resolveObjectEvaluation("theme", {}, context);
      return value;
    });
    const page = new HalyardWebProvider({ url, key: environment.client });
    t.after(() => page.onClose());
    await page.initialize(context);
    await assertReadOnly(() => page.resolveObjectEvaluation("theme", {}).value);
  });
});

suite("values of the program", () => {
  const own = () => structuredClone(theme);
  const ownFlag = () => ({ ...structuredClone(flag), enabled: true, description: null }) as const;

  test("a bootstrap and overrides are copied: the program can change its own objects", async (t) => {
    const [bootstrap, overridden] = [ownFlag(), own()];
    const client = createClient({
      bootstrap: { flags: [{ flag: bootstrap as never }] },
      overrides: { overridden },
    });
    t.after(() => client.close());
    const later = own();
    client.override("later", later);
    bootstrap.variants.plain.button.width = 20;
    overridden.button.width = 20;
    later.button.width = 20;
    for (const key of ["theme", "overridden", "later"]) {
      await assertReadOnly(() => client.objectValue(key, context, {}));
    }
  });

  test("so is the bootstrap of a page", async (t) => {
    const bootstrap = { theme: own() };
    const client = createContextClient({
      url: "http://127.0.0.1:9",
      key: "k",
      bootstrap,
      log: false,
    });
    t.after(() => client.close());
    bootstrap.theme.button.width = 20;
    await assertReadOnly(() => client.objectValue("theme", {}));
  });
});
