// The documents are true: links lead somewhere, settings, paths, limits and metrics are those of the program, programs work.
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { after, before, suite, test } from "node:test";
import { parseConfig } from "../packages/server/src/process/settings/config.ts";
import { startTestServer, type TestServer } from "../packages/server/test/support/server.ts";
import { readsProviders } from "./support/documented-providers.ts";
import { blocksOf, pages, read, root } from "./support/pages.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** The cells of every table row whose cell at `column` is a name in code. */
const rowsOf = (text: string, column: number, name: RegExp): string[][] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter((cells) => name.test(cells[column] ?? ""));

const inCode = (cell: string | undefined): string | undefined => /^`([^`]+)`/.exec(cell ?? "")?.[1];

suite("links", () => {
  const withoutCode = (text: string): string =>
    text.replace(/^ *```.*?^ *```$/gms, "").replace(/`[^`\n]*`/g, "code");

  /** The anchors that headings get: small letters, no punctuation, hyphens for spaces. */
  const anchorsOf = (text: string): Set<string> =>
    new Set(
      [...text.replace(/^ *```.*?^ *```$/gms, "").matchAll(/^#{1,6} +(.+)$/gm)].map((match) =>
        (match[1] ?? "")
          .toLowerCase()
          .replace(/[^\p{L}\p{N} _-]/gu, "")
          .replaceAll(" ", "-"),
      ),
    );

  const ignored = new Set(["node_modules", ".git", "data", "dist"]);
  const files = globSync("**/*.md", { cwd: root, exclude: (name) => ignored.has(name) });

  test("there are documents to check", () => {
    for (const name of ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]) {
      assert.ok(files.includes(name), name);
    }
  });

  for (const file of files) {
    test(`${file}: every relative link leads somewhere`, () => {
      const links = [...withoutCode(read(file)).matchAll(/\]\(([^)\s]+)\)/g)]
        .map((match) => match[1] ?? "")
        .filter((link) => !/^[a-z]+:/.test(link));
      for (const link of links) {
        const [path = "", anchor] = link.split("#", 2);
        const target = path === "" ? join(root, file) : resolve(root, dirname(file), path);
        assert.ok(existsSync(target), `${file} links to ${link}, which is not there`);
        if (anchor === undefined) continue;
        const anchors = anchorsOf(readFileSync(target, "utf8"));
        assert.ok(anchors.has(anchor), `${file} links to ${link}, which has no such heading`);
      }
    });
  }
});

test("docs/README.md leads to every page", () => {
  const links = [...read("docs/README.md").matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, link = ""]) =>
    relative(root, resolve(root, "docs", link)),
  );
  const missed = pages.filter((page) => page.startsWith("docs/") && !links.includes(page));
  assert.deepEqual(missed, ["docs/README.md"]);
});

suite("settings", () => {
  const rows = rowsOf(
    read("docs/operate/settings.md"),
    0,
    /^`(HALYARD_[A-Z_]+|DATABASE_URL|HOST|PORT)`$/,
  );

  test("the tables of docs/operate/settings.md have the settings that the program reads, and no others", () => {
    const asked = new Set<string>();
    const variables = new Proxy<Record<string, string>>(
      {},
      { get: (_target, name) => void asked.add(String(name)) },
    );
    parseConfig(variables);
    assert.ok(asked.size > 2, "the settings were not seen");
    assert.deepEqual(rows.map(([name]) => inCode(name) ?? "").toSorted(), [...asked].toSorted());
  });

  for (const [first, standard, , example] of rows) {
    const name = inCode(first) ?? "";
    // A server that is not a developer's, unless this is the row that says so.
    const others: Record<string, string> = {
      ...(name !== "HOST" && { HOST: "0.0.0.0" }),
      // These mean something beside others only.
      ...(name === "DATABASE_URL" && { HALYARD_SECRET_KEY: "0".repeat(64) }),
      ...(name.startsWith("HALYARD_FLAGD_TLS_") && {
        HALYARD_FLAGD_PORT: "8015",
        HALYARD_FLAGD_TLS_CERT: "cert.pem",
        HALYARD_FLAGD_TLS_KEY: "key.pem",
      }),
      ...(/^HALYARD_PO(OL_SIZE|STGRES_TIMEOUT)$/.test(name) && {
        HALYARD_SECRET_KEY: "0".repeat(64),
        DATABASE_URL: "postgres://halyard@127.0.0.1/halyard",
      }),
    };
    const value = inCode(standard);

    test(`${name}: the default is the default, and the example is understood`, () => {
      const untouched = parseConfig(others);
      if (value !== undefined)
        assert.deepEqual(parseConfig({ ...others, [name]: value }), untouched);
      // What stands in angle brackets is to be filled in by the reader, and a file is to be written.
      const text = (inCode(example) ?? "").replace(
        /<([^>]+)>/,
        name === "HALYARD_SECRET_KEY" ? "0".repeat(64) : "a-key-of-enough-characters",
      );
      if (name === "HALYARD_OIDC_FILE") return readsProviders(others);
      assert.notDeepEqual(parseConfig({ ...others, [name]: text }), untouched);
    });
  }
});

test("addresses are refused in the words of docs/operate/settings.md", async (t) => {
  const strict = await startTestServer({ HALYARD_CALLBACK_LOOPBACK: "off" });
  t.after(() => strict.close());
  const { admin } = await strict.environment();
  const shown = blocksOf("docs/operate/settings.md").find(({ text }) => text.startsWith("url "));
  const lines = shown?.text.trim().split("\n") ?? [];
  assert.equal(lines.length, 4);
  for (const line of lines) {
    const host = /must not go to ([^ ,]+)/.exec(line)?.[1] ?? "hooks.example.com:9443";
    const { body } = await admin("POST", "/webhooks", { url: `https://${host}/`, events: ["*"] });
    assert.equal((body as { message: string }).message, line);
  }
});

test("the limits of docs/reference/interface.md are the defaults of their settings", () => {
  const defaults = new Map(
    rowsOf(read("docs/operate/settings.md"), 0, /^`HALYARD_[A-Z_]+`$/).map(([name, value]) => [
      inCode(name),
      inCode(value),
    ]),
  );
  const rows = rowsOf(read("docs/reference/interface.md"), 1, /\(`HALYARD_[A-Z_]+`\)$/);
  assert.ok(rows.length > 5);
  for (const [what = "", limit = ""] of rows) {
    const value = defaults.get(/`(\w+)`/.exec(limit)?.[1]);
    // Some defaults are a part of another setting.
    if (value !== undefined) assert.equal(/[\d,]+/.exec(limit)?.[0].replace(",", ""), value, what);
  }
});

test("docs/reference/metrics.md has every metric of ours, and no others", async () => {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const real = [...text.matchAll(/^# TYPE (halyard_\w+) /gm)].map(([, name = ""]) => name);
  const listed = rowsOf(read("docs/reference/metrics.md"), 0, /^`halyard_/).flatMap(
    ([names = ""]) => names.match(/halyard_\w+/g) ?? [],
  );
  assert.ok(real.length > 10);
  assert.deepEqual(listed.toSorted(), real.toSorted());
});

test("every path of the server that docs/architecture.md names exists", () => {
  const named = [...read("docs/architecture.md").matchAll(/`([a-z-]+(?:\/[a-z-]+)*(?:\.ts|\/))`/g)]
    .map(([, path = ""]) => path)
    .filter((path) => path.includes("/") || path === "server.ts");
  assert.ok(named.length > 20);
  const roots = ["", "packages/server/src"];
  const missing = named.filter((path) => !roots.some((root) => existsSync(join(root, path))));
  assert.deepEqual(missing, []);
});

test("every program in the documents has a test", () => {
  const tested: Readonly<Record<string, string>> = {
    "README.md js": "packages/sdk/test/published-runs.languages.test.ts",
    "docs/environments.md yaml": "test/docs-preview.long.test.ts",
    "docs/evaluate/python.md python": "test/docs.languages.test.ts",
    "docs/evaluate/flagd.md yaml": "not run: needs flagd; npm run test:languages runs one",
    "docs/evaluate/go.md go": "test/docs.languages.test.ts",
    "docs/evaluate/openfeature-cli.md ts": "test/docs-openfeature-cli.languages.test.ts",
    "docs/evaluate/openfeature-cli.md go": "test/docs-openfeature-cli.languages.test.ts",
    "docs/evaluate/opentelemetry.md js": "test/docs.languages.test.ts",
    "docs/evaluate/typescript.md ts": "packages/sdk/test/published.long.test.ts compiles them",
    "docs/evaluate/typed-flags.md ts": "packages/sdk/test/published-types.test.ts compiles them",
    "docs/evaluate/server-rendering.md ts":
      "packages/sdk/test/published-types.test.ts compiles them",
    "docs/webhooks.md ts": "packages/sdk/test/receivers.test.ts",
    "docs/webhooks.md js": "packages/sdk/test/receivers.test.ts",
    "docs/webhooks.md python": "packages/sdk/test/receivers.languages.test.ts",
    "docs/webhooks.md go": "packages/sdk/test/receivers.languages.test.ts",
    "docs/webhooks.md php": "packages/sdk/test/receivers.languages.test.ts, where PHP is installed",
    "docs/webhooks.md ruby": "not run: needs a Rack server",
    "docs/webhooks.md sql": "not run: a line for the reader's own database",
    "docs/operate/monitoring.md js": "not run: needs a collector",
    "docs/operate/monitoring.md yaml": "test/alerts.languages.test.ts",
    "docs/operate/reverse-proxy.md nginx": "not run: needs nginx",
    "docs/operate/reverse-proxy.md caddyfile":
      "test/docs-proxy.languages.test.ts, where Caddy is installed",
  };
  const others = new Set(["sh", "console", "text", "json", "mermaid", ""]);
  const found = pages.flatMap((page) =>
    blocksOf(page)
      .filter(({ language }) => !others.has(language))
      .map(({ language }) => `${page} ${language}`),
  );
  assert.deepEqual([...new Set(found)].toSorted(), Object.keys(tested).toSorted());
});
