// A flagd daemon that follows Halyard over HTTP and over gRPC: changes, restarts of either, a bad key. FLAGD_BIN names the daemon.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type FlagdDaemon, noDaemon, startFlagd } from "./support/flagd-daemon.ts";
import { changeFlag, evaluateOne } from "./support/ofrep.ts";
import { newFolder, startTestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

interface Place {
  readonly url: string;
  readonly flagd: string;
}
/** flagd's configuration of one source. */
type Source = (place: Place, key: string) => object;

const kinds: readonly [name: string, source: Source, refused: RegExp][] = [
  [
    "HTTP",
    ({ url }, key) => ({
      ...{ provider: "http", uri: `${url}/flagd/v1/flags.json` },
      ...{ authHeader: `Bearer ${key}`, interval: 1 },
    }),
    /401/,
  ],
  [
    "gRPC",
    ({ flagd }, key) => ({ provider: "grpc", uri: flagd, providerID: key }),
    /Unauthenticated.*not valid/,
  ],
];

const variants = { one: "first", two: "second", off: "" };
const text = { type: "variant", valueType: "string", variants, off: "off" };
const flags = [
  { ...text, key: "plain", otherwise: "one" },
  {
    ...text,
    key: "targeted",
    rules: [
      { when: { segment: ["staff"] }, serve: "two" },
      { when: { attribute: "age", op: "gte", value: 18 }, serve: [{ variant: "one", share: 30 }] },
    ],
    otherwise: [
      { variant: "one", share: 12.5 },
      { variant: "two", share: 87.5 },
    ],
  },
  { key: "half", type: "rollout", percentage: 50 },
];
const contexts = Array.from({ length: 60 }, (_, index) => ({
  ...(index % 20 === 0 ? {} : { targetingKey: `user-${index}` }),
  ...(index % 3 === 0 ? { age: index } : {}),
  ...(index % 7 === 0 ? { email: `someone-${index}@example.com` } : {}),
}));

suite("a flagd daemon follows Halyard", { skip: noDaemon }, () => {
  for (const [name, source, refused] of kinds) {
    test(`over ${name}`, async (t) => {
      const folder = newFolder();
      const settings = { HALYARD_DATA: folder, HALYARD_FLAGD_PORT: "0" };
      let server = await startTestServer(settings);
      t.after(() => server.close());
      const place: Place = { url: server.url, flagd: server.flagd };
      const { keys } = await server.environment();
      const admin = () => server.api(keys.admin);
      const when = { attribute: "email", op: "endsWith", values: ["@example.com"] };
      const made = await admin()("POST", "/segments", { key: "staff", when });
      assert.equal(made.status, 201, made.text);
      for (const flag of flags) {
        const { status, text: said } = await admin()("POST", "/flags", flag);
        assert.equal(status, 201, said);
        await changeFlag(admin(), flag.key, { enabled: true });
      }
      const follow = async (key: string): Promise<FlagdDaemon> => {
        const daemon = await startFlagd("--sources", JSON.stringify([source(place, key)]));
        t.after(() => daemon.stop());
        return daemon;
      };
      /** Waits for the value of the first flag. */
      const shows = (daemon: FlagdDaemon, value: string) =>
        until(`${value} in flagd`, async () => (await daemon.ask("plain")).value === value);

      let daemon = await follow(keys.server);
      await shows(daemon, "first");
      for (const { key } of flags) {
        for (const context of contexts) {
          const { body } = await evaluateOne(server.api(keys.client), key, { context });
          const ours = body as { value?: unknown; variant?: string; errorCode?: string };
          const theirs = await daemon.ask(key, context);
          const told = `${key} for ${JSON.stringify(context)}`;
          if (ours.errorCode === undefined) {
            assert.deepEqual([theirs.value, theirs.variant], [ours.value, ours.variant], told);
          } else assert.ok(theirs.errorCode !== undefined, told);
        }
      }
      await changeFlag(admin(), "plain", { otherwise: "two" });
      await shows(daemon, "second");

      await daemon.stop();
      daemon = await follow(keys.server);
      await shows(daemon, "second");

      await server.close();
      const known = daemon.log().length;
      // It has noticed, and keeps what it has.
      await until("flagd's notice", () => /refused|error/i.test(daemon.log().slice(known)));
      assert.equal((await daemon.ask("plain")).value, "second");
      const port = (address: string) => new URL(address).port;
      const [http, grpc] = [port(place.url), port(`http://${place.flagd}`)];
      server = await startTestServer({ ...settings, PORT: http, HALYARD_FLAGD_PORT: grpc });
      await changeFlag(admin(), "plain", { otherwise: "one" });
      await shows(daemon, "first");

      const stranger = await follow("nobody-0123456789abcdef");
      await until("the refusal in its log", () => refused.test(stranger.log()));
      if (stranger.exitCode() === undefined) {
        assert.equal((await stranger.ask("plain")).errorCode, "FLAG_NOT_FOUND");
      }
      assert.ok(!stranger.log().includes("first"));
    });
  }
});
