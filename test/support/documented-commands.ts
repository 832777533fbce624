// What a reader of each page has before its commands, and what happens between them.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import {
  createManagement,
  type FlagPatch,
  type NewFlag,
} from "../../packages/sdk/src/management.ts";
import type { TestServer } from "../../packages/server/test/support/server.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { notRun } from "./not-run.ts";
import { read } from "./pages.ts";
import type { Place, Steps } from "./shell-session.ts";
import { targetingPage, targetingReader } from "./targeting-page.ts";

export const keyOf = (server: TestServer, name: string): string =>
  server.firstKeys.find(({ environment }) => environment === name)?.text ?? "";

const usersUpTo = (length: number): string =>
  Array.from({ length }, (_, index) => `user-${index + 1}\n`).join("");
const users = usersUpTo(1_000);

/** A receiver on this machine that takes everything. */
const startReceiver = async (context: TestContext): Promise<string> => {
  const receiver = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(204).end());
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  context.after(() => receiver.close().closeAllConnections());
  return `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
};

/** Made by calls of the API: a command for each would cost a process. */
const flagsOf = (server: TestServer, environment = "development") => {
  const { flags } = createManagement({ url: server.url, key: keyOf(server, environment) });
  const done = (result: { readonly ok: boolean }) => assert.ok(result.ok, JSON.stringify(result));
  return {
    create: async (flag: NewFlag) => done(await flags.create(flag)),
    update: async (key: string, patch: FlagPatch) => done(await flags.update(key, patch)),
    delete: async (key: string) => done(await flags.delete(key)),
  };
};

const checkout = { key: "new-checkout", type: "rollout", percentage: 25 } as const;

const create25 = (server: TestServer) => async (): Promise<void> => {
  const flags = flagsOf(server);
  await flags.create(checkout);
  await flags.update(checkout.key, { enabled: true });
};

/** What happens between the transcripts of docs/reference/cli.md. */
const cliSteps = (server: TestServer): Steps => {
  const flags = flagsOf(server);
  return {
    "halyard webhooks create": async () => {
      await flags.update("maintenance", { description: "Shows the maintenance page" });
      await flags.delete("maintenance");
    },
    "halyard webhooks deliveries": async () => {
      await flags.update(checkout.key, { enabled: false });
      await flags.update(checkout.key, { enabled: true });
      const api = server.api(keyOf(server, "development"));
      const [webhook] = (await api("GET", "/webhooks")).body as { id: string }[];
      await until("everything is delivered", async () => {
        const { body } = await api("GET", `/webhooks/${webhook?.id}/deliveries`);
        return (body as { state: string }[]).every(({ state }) => state === "delivered");
      });
    },
  };
};

/** What happens between the transcripts of docs/flags-as-code.md. */
const fileSteps = (server: TestServer): Steps => {
  const description = "The checkout in one page";
  return {
    "halyard export": async (session) => {
      for (const name of ["development", "production"]) {
        const set = `halyard profiles set ${name} --url http://127.0.0.1:4400 --key -`;
        assert.match(await session.run(`${set} < ${name}.txt`), new RegExp(`^Saved ${name}`));
      }
      const flags = flagsOf(server);
      await flags.create({ key: "dark-mode", type: "boolean" });
      await flags.update("dark-mode", { enabled: true });
      await create25(server)();
      await flags.update(checkout.key, { description });
    },
    "halyard import flags.yaml -p production": async () => {
      const production = flagsOf(server, "production");
      await production.create({ key: "dark-mode", type: "boolean" });
      await production.update("dark-mode", { enabled: true });
      await production.create({ key: "old-search", type: "boolean" });
      await production.create({ ...checkout, percentage: 10, description });
      await production.update(checkout.key, { enabled: true });
    },
    "halyard import flags.yaml": async (session) => {
      const edits = 's/enabled: true/enabled: "yes"/;s/percentage: 25/percentage: lots/';
      assert.equal(await session.run(`sed -i '${edits}' flags.yaml`), "");
    },
    "halyard diff production staging": async (session) => {
      await session.run("halyard environments create staging --data ./data");
      const create =
        "halyard keys create --environment staging --role admin --name admin --data ./data 2>&-";
      const set = "halyard profiles set staging --url http://127.0.0.1:4400 --key -";
      assert.match(await session.run(`${create} | ${set}`), /^Saved staging/);
      const promoted = await session.run("halyard promote development staging --all --yes");
      assert.match(promoted, /Done: 2 created/);
    },
  };
};

/** Profiles alone say which server. */
const profilesOf = (server: TestServer, files: Readonly<Record<string, string>> = {}) => ({
  variables: {},
  files: {
    "development.txt": keyOf(server, "development"),
    "production.txt": keyOf(server, "production"),
    ...files,
  },
});

interface Reader extends Place {
  /** What must hold when every command of the page has run. */
  readonly afterwards: () => Promise<void>;
}

export type Plan = (
  server: TestServer,
  context: TestContext,
) => Promise<Partial<Reader>> | Partial<Reader>;

/** The pages with commands, and what a reader has besides a key in HALYARD_API_KEY. */
export const plans: Readonly<Record<string, Plan>> = {
  "README.md": () => ({}),
  "docs/get-started.md": () => ({}),
  "docs/evaluate/http.md": () => ({}),
  "docs/webhooks.md": () => ({}),
  "docs/mcp.md": () => ({}),
  "docs/operate/run.md": () => ({}),
  "docs/operate/backup.md": (server) => ({
    instead: { "/var/backups/halyard": `${server.folder}/backups` },
    before: { "halyard backup": create25(server) },
  }),
};

/** As above; each command has a test of its own in packages/cli/test, and docs-targeting.test.ts tries the JSON of the guide. */
export const longPlans: Readonly<Record<string, Plan>> = {
  [targetingPage]: (server) => targetingReader(server.api(keyOf(server, "development")), usersUpTo),
  "docs/people.md": () => ({}),
  "docs/environments.md": () => ({}),
  "docs/moving.md": (server) => ({
    files: {
      "unleash.json": read("packages/cli/test/fixtures/unleash.json"),
      "flags.flagd.json": read("packages/cli/test/fixtures/flagd.yaml"),
      "flags.goff.yaml": read("packages/cli/test/fixtures/products/go-feature-flag.yaml"),
    },
    before: {
      "halyard import unleash": async () => {
        await flagsOf(server).create({ key: "dark-mode", type: "boolean" });
        await flagsOf(server).update("dark-mode", { enabled: true });
      },
    },
  }),
  "docs/operate/troubleshooting.md": (server) => ({
    files: { "wrong-key/secret.key": "none", "damaged/halyard.db": "no database ".repeat(100) },
    before: { "halyard evaluate new-checkout -": create25(server) },
  }),
  "docs/flags-as-code.md": (server) => ({ ...profilesOf(server), before: fileSteps(server) }),
  "docs/reference/cli.md": async (server, context) => ({
    ...profilesOf(server, { "users.txt": users }),
    instead: {
      "127.0.0.1:9000": await startReceiver(context),
    },
    before: cliSteps(server),
  }),
};

/** How the block begins in the list of those that are not run. */
export const begins = (page: string, text: string): string | undefined =>
  Object.keys(notRun[page] ?? {}).find((start) => text.startsWith(start));
