// The commands of the documents run, in their order, and print what stands there.
import assert from "node:assert/strict";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, type TestContext, test } from "node:test";
import { missing } from "../packages/sdk/test/support/guide.ts";
import { serveOn } from "../packages/server/test/support/halyard-process.ts";
import {
  newFolder,
  startTestServer,
  type TestServer,
} from "../packages/server/test/support/server.ts";
import { until } from "../packages/server/test/support/until.ts";
import { assertPrinted } from "./support/compare-output.ts";
import { blockTitled, pages, read } from "./support/pages.ts";
import {
  commandsOf,
  openSession,
  type Place,
  type Session,
  type Steps,
} from "./support/shell-session.ts";

/** Blocks that this file does not run: how they begin, and why. */
const notRun: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "README.md": {
    "npm ci && npm start":
      "the first start is a test of its own below; npm ci is how the tests came here",
    "npm install http": "test/packages.test.ts installs the SDK from a running server",
    "npm ci && npm test": "these are the tests",
  },
  "docs/get-started.md": { "npm ci && npm start": "the first start is a test of its own below" },
  "docs/webhooks.md": {
    "secret='whsec_": "packages/sdk/test/receivers.test.ts",
    ': "${HALYARD_WEBHOOK_SECRET': "packages/sdk/test/receivers.test.ts",
  },
  "docs/moving.md": {
    'curl -X POST "$UNLEASH_URL':
      "needs an Unleash; the import is packages/cli/test/importers.test.ts",
    "for offset in":
      "needs a LaunchDarkly account; the import is packages/cli/test/importers.test.ts",
    'curl -H "X-Environment-Key':
      "needs a Flagsmith account; the import is packages/cli/test/importers.test.ts",
  },
  "docs/evaluate/typescript.md": {
    "npm install https": "test/packages.test.ts",
    "npm pack https": "test/packages.test.ts",
  },
  "docs/evaluate/python.md": {
    "python3 -m venv": "test/docs-languages.test.ts",
    "HALYARD_API_KEY=": "test/docs-languages.test.ts",
  },
  "docs/evaluate/go.md": {
    "go mod init": "test/docs-languages.test.ts",
    "HALYARD_API_KEY=": "test/docs-languages.test.ts",
  },
  "docs/operate/run.md": {
    "npm run pack": "test/packages.test.ts",
    "npm install ./dist": "test/packages.test.ts",
    "docker build": "needs a container engine; test/image.test.ts does the steps without one",
    "install -m 600 deploy/compose": "needs a container engine; test/deploy.test.ts reads the file",
    "docker compose -f": "needs a container engine",
    "kubectl apply": "needs a cluster; test/deploy.test.ts reads the files",
    "npm install --prefix": "needs systemd and root; test/systemd.test.ts verifies the unit",
    "systemd-run": "needs systemd and root",
  },
  "docs/operate/monitoring.md": {
    "NODE_OPTIONS=":
      "needs a collector; packages/server/test/tracing.test.ts loads an SDK this way",
  },
  "docs/operate/postgresql.md": {
    "$ halyard copy": "needs a second database; packages/cli/test/copy-postgres.test.ts",
  },
  "docs/reference/cli.md": {
    "$ halyard events tail": "follows until Ctrl-C; packages/cli/test/events.test.ts",
    "echo 'eval": "changes the shell's own files; packages/cli/test/completion.test.ts",
  },
};

const keyOf = (server: TestServer, name: string): string =>
  server.firstKeys.find(({ environment }) => environment === name)?.text ?? "";

const users = Array.from({ length: 1_000 }, (_, index) => `user-${index + 1}\n`).join("");

/** A receiver on this machine that takes everything. */
const startReceiver = async (context: TestContext): Promise<string> => {
  const receiver = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(204).end());
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  context.after(() => receiver.close().closeAllConnections());
  return `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
};

const inTurn =
  (...commands: string[]) =>
  async (session: Session): Promise<void> => {
    for (const command of commands) assert.doesNotMatch(await session.run(command), /^halyard: /);
  };

/** What happens between the transcripts of docs/reference/cli.md. */
const cliSteps = (server: TestServer): Steps => ({
  "halyard webhooks create": inTurn(
    'halyard flags describe maintenance "Shows the maintenance page"',
    "halyard flags delete maintenance --yes",
  ),
  "halyard webhooks deliveries": async (session) => {
    await inTurn(
      "halyard flags disable new-checkout",
      "halyard flags enable new-checkout",
    )(session);
    const api = server.api(keyOf(server, "development"));
    const [webhook] = (await api("GET", "/webhooks")).body as { id: string }[];
    await until("everything is delivered", async () => {
      const { body } = await api("GET", `/webhooks/${webhook?.id}/deliveries`);
      return (body as { state: string }[]).every(({ state }) => state === "delivered");
    });
  },
  "halyard export": inTurn(
    "halyard flags create dark-mode --enabled",
    'halyard flags describe new-checkout "The checkout in one page"',
  ),
  "halyard import flags.yaml -p production": inTurn(
    "halyard flags enable dark-mode -p production --yes",
    "halyard flags create old-search -p production --yes",
    "halyard flags create new-checkout -p production --yes --percentage 10 --enabled",
    'halyard flags describe new-checkout "The checkout in one page" -p production --yes',
    // A copy of this environment for the commands that compare two.
    "halyard environments create staging",
    "halyard keys create --environment staging --role admin --name admin 2>/dev/null > staging.txt",
    "halyard profiles set staging --url http://127.0.0.1:4400 --key - < staging.txt",
    "halyard promote development staging --all --yes",
  ),
  "halyard import flags.yaml": inTurn(
    "sed -i -e 's/enabled: true/enabled: \"yes\"/' -e 's/percentage: 25/percentage: lots/' flags.yaml",
  ),
  "halyard environments create": inTurn("halyard environments delete staging --force --yes"),
});

type Plan = (server: TestServer, context: TestContext) => Promise<Partial<Place>> | Partial<Place>;

const create25 = inTurn("halyard flags create new-checkout --percentage 25 --enabled");

/** The pages with commands, and what a reader has besides a key in HALYARD_API_KEY. */
const plans: Readonly<Record<string, Plan>> = {
  "README.md": () => ({}),
  "docs/get-started.md": () => ({}),
  "docs/target.md": () => ({ files: { "users.txt": users } }),
  "docs/evaluate/http.md": () => ({}),
  "docs/webhooks.md": () => ({}),
  "docs/moving.md": () => ({
    files: {
      "unleash.json": read("packages/cli/test/fixtures/unleash.json"),
      "flags.flagd.json": read("packages/cli/test/fixtures/flagd.yaml"),
    },
    before: { "halyard import unleash": inTurn("halyard flags create dark-mode --enabled") },
  }),
  "docs/operate/run.md": () => ({}),
  "docs/operate/backup.md": ({ folder }) => ({
    instead: { "/var/backups/halyard": `${folder}/backups` },
    before: { "halyard backup": create25 },
  }),
  "docs/operate/troubleshooting.md": () => ({
    before: { "halyard evaluate new-checkout -": create25 },
  }),
  "docs/reference/cli.md": async (server, context) => ({
    // Profiles alone say which server.
    variables: {},
    files: {
      "development.txt": keyOf(server, "development"),
      "production.txt": keyOf(server, "production"),
      "users.txt": users,
    },
    instead: { "127.0.0.1:9000": await startReceiver(context) },
    before: cliSteps(server),
  }),
};

const begins = (page: string, text: string): string | undefined =>
  Object.keys(notRun[page] ?? {}).find((start) => text.startsWith(start));

test("every block of commands is run here, or it is said why not", () => {
  const skipped: string[] = [];
  for (const page of pages) {
    for (const [{ text }] of commandsOf(page)) {
      const start = begins(page, text);
      if (start !== undefined) skipped.push(`${page}: ${start}`);
      else assert.ok(plans[page], `${page} has commands that nothing runs: ${text}`);
    }
  }
  const listed = Object.entries(notRun).flatMap(([page, starts]) =>
    Object.keys(starts).map((start) => `${page}: ${start}`),
  );
  assert.deepEqual([...new Set(skipped)].toSorted(), listed.toSorted());
});

suite("the commands run, and print what stands there", {
  skip: missing("curl", "--version") || missing("bash", "--version"),
}, () => {
  for (const [page, plan] of Object.entries(plans)) {
    test(page, async (context) => {
      const server = await startTestServer();
      context.after(() => server.close());
      const session = openSession(context, {
        url: server.url,
        data: server.folder,
        variables: {
          HALYARD_API_KEY: keyOf(server, "development"),
          PRODUCTION_KEY: keyOf(server, "production"),
          HALYARD_URL: server.url,
        },
        ...(await plan(server, context)),
      });
      for (const [block, next] of commandsOf(page)) {
        if (begins(page, block.text) === undefined) await session.follow(block, next);
      }
    });
  }
});

test("a first start prints what docs/get-started.md shows", async (context) => {
  const folder = newFolder();
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const first = await serveOn({ HALYARD_DATA: folder, HALYARD_LOG_LEVEL: "silent" });
  context.after(() => first.kill("SIGKILL"));
  const [printed] = await first.printed(/Halyard is up\.[\s\S]*"boolean"\}'\n/);
  first.kill("SIGTERM");
  await first.ended;
  assertPrinted(printed.replaceAll(first.url, "http://127.0.0.1:4400"), {
    shown: blockTitled("docs/get-started.md", "first start"),
    isJson: false,
    what: "halyard serve",
  });
});
