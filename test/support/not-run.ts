// Which commands of the documents are not run as they stand there.
const cliTest = "test/docs-openfeature-cli.languages.test.ts";
/** Blocks that the tests of commands do not run: how they begin, and why. */
export const notRun: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "README.md": {
    "npm ci && npm start":
      "the first start is a test of its own below; npm ci is how the tests came here",
    "npm init -y": "test/packages.long.test.ts installs the SDK from a running server",
    "node checkout.mjs":
      "packages/sdk/test/published-runs.languages.test.ts, with several versions of Node",
    "npm ci && npm test": "these are the tests",
  },
  "docs/get-started.md": { "npm ci && npm start": "the first start is a test of its own below" },
  "docs/webhooks.md": {
    "secret='whsec_": "packages/sdk/test/receivers.test.ts",
    ': "${HALYARD_WEBHOOK_SECRET': "packages/sdk/test/receivers.test.ts",
  },
  "docs/change-requests.md": {
    "$ halyard flags enable new-checkout -p production":
      "needs a protected environment: packages/cli/test/requests.test.ts",
  },
  "docs/preview.md": { halyard: "packages/cli/test/preview.test.ts" },
  "docs/history.md": { halyard: "packages/cli/test/history-verify.test.ts" },
  "docs/moving.md": {
    'curl -X POST "$UNLEASH_URL':
      "needs an Unleash; the import is packages/cli/test/importers.test.ts",
    "for offset in":
      "needs a LaunchDarkly account; the import is packages/cli/test/importers.test.ts",
    'curl -H "X-Environment-Key':
      "needs a Flagsmith account; the import is packages/cli/test/importers.test.ts",
    'curl -s -H "Authorization: Bearer $GROWTHBOOK_KEY':
      "needs a GrowthBook account; the import is packages/cli/test/importers.test.ts",
    "flipt export": "needs a Flipt; the import is packages/cli/test/importers.test.ts",
  },
  "docs/evaluate/typescript.md": {
    "npm install https": "test/packages.long.test.ts",
    "npm pack https": "test/packages.long.test.ts",
  },
  "docs/evaluate/typed-flags.md": {
    "npx halyard types": "packages/sdk/test/published-types.test.ts",
  },
  "docs/evaluate/opentelemetry.md": { "": "test/docs.languages.test.ts" },
  "docs/evaluate/python.md": {
    "python3 -m venv": "test/docs.languages.test.ts",
    "HALYARD_API_KEY=": "test/docs.languages.test.ts",
  },
  "docs/evaluate/go.md": {
    "go mod init": "test/docs.languages.test.ts",
    "HALYARD_API_KEY=": "test/docs.languages.test.ts",
  },
  "docs/evaluate/flagd.md": { "$ halyard flagd check": "packages/cli/test/flagd.test.ts" },
  "docs/evaluate/openfeature-cli.md": { go: cliTest, openfeature: cliTest, tsc: cliTest },
  "docs/operate/run.md": {
    "npm run pack": "test/packages.long.test.ts",
    "npm install ./dist": "test/packages.long.test.ts",
    "docker build": "needs a container engine; test/image.long.test.ts does the steps without one",
    "install -m 600 deploy/compose": "needs a container engine; test/deploy.test.ts reads the file",
    "docker compose -f": "needs a container engine",
    "kubectl apply": "needs a cluster; test/deploy.test.ts reads the files",
    "npm install --prefix":
      "needs systemd and root; test/systemd.languages.test.ts verifies the unit",
    "systemctl stop": "needs systemd and root",
    "systemd-run": "needs systemd and root",
  },
  "docs/operate/monitoring.md": {
    "NODE_OPTIONS=":
      "needs a collector; packages/server/test/tracing.test.ts loads an SDK this way",
  },
  "docs/operate/postgresql.md": {
    "$ halyard copy": "needs a second database; packages/cli/test/copy.postgres.test.ts",
  },
  "docs/reference/cli.md": {
    "halyard webhooks listen": "follows until Ctrl-C; packages/cli/test/listen.test.ts",
    "echo 'eval": "changes the shell's own files; packages/cli/test/completion.test.ts",
  },
};
