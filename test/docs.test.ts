// The documents are true: links lead somewhere, settings and paths are those of the program, the README's examples work.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { folderOf, missing, printed, startReceiver } from "../packages/sdk/test/support/guide.ts";
import { parseConfig } from "../packages/server/src/config/config.ts";
import type { OpenApi } from "../packages/server/test/support/api.ts";
import { commandFile } from "../packages/server/test/support/halyard-process.ts";
import { startTestServer } from "../packages/server/test/support/server.ts";
import { storeSettings } from "../packages/server/test/support/test-store.ts";
import { packages } from "../scripts/rooms.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const run = promisify(execFile);

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

suite("settings", () => {
  const rows = rowsOf(read("docs/operating.md"), 0, /^`(HALYARD_[A-Z_]+|DATABASE_URL|HOST|PORT)`$/);

  test("the table of docs/operating.md has the settings that the program reads, and no others", () => {
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
      // These two mean something beside the others of PostgreSQL only.
      ...(name === "DATABASE_URL" && { HALYARD_SECRET_KEY: "0".repeat(64) }),
      ...(name === "HALYARD_POOL_SIZE" && {
        HALYARD_SECRET_KEY: "0".repeat(64),
        DATABASE_URL: "postgres://halyard@127.0.0.1/halyard",
      }),
    };
    const value = inCode(standard);

    test(`${name}: the default is the default, and the example is understood`, () => {
      const untouched = parseConfig(others);
      if (value !== undefined)
        assert.deepEqual(parseConfig({ ...others, [name]: value }), untouched);
      // What stands in angle brackets is to be filled in by the reader.
      const text = (inCode(example) ?? "").replace(
        /<([^>]+)>/,
        name === "HALYARD_SECRET_KEY" ? "0".repeat(64) : "a-key-of-enough-characters",
      );
      assert.notDeepEqual(parseConfig({ ...others, [name]: text }), untouched);
    });
  }
});

test("docs/interface.md has every path with its role and answers, and no others", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi;
  const real = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { responses, "x-role": role }]) => {
      const good = Object.keys(responses).filter((status) => Number(status) < 400);
      return `${method.toUpperCase()} ${path} ${role ?? "none"} ${good.join(" ")}`;
    }),
  );
  const told = rowsOf(read("docs/interface.md"), 1, /^`\/[^`]+`$/).map(
    ([method, path, role, answers]) => {
      const good = (answers ?? "").split(" ").filter((status) => Number(status) < 400);
      return `${method} ${inCode(path)} ${inCode(role) ?? role} ${good.join(" ")}`;
    },
  );
  assert.ok(real.length > 0);
  assert.deepEqual(told.toSorted(), real.toSorted());
});

test("CONTRIBUTING.md names every room of the server, and no others", () => {
  const named = rowsOf(read("CONTRIBUTING.md"), 0, /^`[a-z-]+(\.ts|\/|\/[a-z-]+\/)`$/).map(
    ([room]) => (inCode(room) ?? "").replace(/\/$/, ""),
  );
  assert.deepEqual(named.toSorted(), Object.keys(packages.server ?? {}).toSorted());
});

/** The value with all that differs from one run to the next replaced by its kind. */
const steady = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(steady);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, steady(inner)]));
  }
  if (typeof value !== "string") return value;
  const kinds = {
    time: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    secret: /^whsec_/,
    webhook: /^wh_[0-9a-f]{24}$/,
    key: /^[0-9a-f]{16}$/,
  };
  return Object.entries(kinds).find(([, pattern]) => pattern.test(value))?.[0] ?? value;
};

suite("README", () => {
  const readme = read("README.md");

  test("its receiver takes what is signed and refuses what is not", async (t) => {
    const code = /^```js title="receiver\.mjs"\n(.*?)^```$/ms.exec(readme)?.[1] ?? "";
    assert.notEqual(code, "");
    const { signed } = JSON.parse(read("conformance/signature.json")) as {
      signed: { secret: string; body: { text: string }; "x-service-signature": string }[];
    };
    const [first, second] = signed;
    assert.ok(first && second);
    const folder = folderOf(t, { "receiver.mjs": code });
    const receiver = await startReceiver(t, folder, first.secret, process.execPath, "receiver.mjs");
    const post = async (body: string, signature?: string): Promise<number> => {
      const headers = signature === undefined ? {} : { "x-service-signature": signature };
      return (await fetch(receiver.url, { method: "POST", headers, body })).status;
    };

    const { text } = first.body;
    const genuine = first["x-service-signature"];
    assert.equal(await post(text, genuine), 204);
    await printed(receiver, text);
    for (const [why, body, signature] of [
      ["the signature of another body", text, second["x-service-signature"]],
      ["a changed body", text.replace("25", "26"), genuine],
      ["a changed digit", text, genuine.replace(/.$/, (last) => (last === "0" ? "1" : "0"))],
      ["half a signature", text, genuine.slice(0, 40)],
      ["letters that are not ASCII", text, genuine.replace(/.$/, "é")],
      ["an empty signature", text, ""],
      ["no signature", text, undefined],
    ] as const) {
      assert.equal(await post(body, signature), 401, why);
    }
    assert.equal(receiver.output(), `${text}\n`);
  });

  test("its receiver does not start without a secret", async (t) => {
    const code = /^```js title="receiver\.mjs"\n(.*?)^```$/ms.exec(readme)?.[1] ?? "";
    const cwd = folderOf(t, { "receiver.mjs": code });
    const env = { ...process.env, HALYARD_WEBHOOK_SECRET: "", PORT: "0" };
    const started = run(process.execPath, ["receiver.mjs"], { cwd, env, timeout: 600_000 });
    await assert.rejects(started, /HALYARD_WEBHOOK_SECRET is not set/);
  });

  test("its blocks of commands work from top to bottom", async (t) => {
    const block = (title: string): string =>
      new RegExp(`^\`\`\`sh title="${title}"\\n(.*?)^\`\`\`$`, "ms").exec(readme)?.[1] ?? "";
    const server = await startTestServer();
    t.after(() => server.close());
    const keyOf = (name: string) =>
      server.firstKeys.find(({ environment }) => environment === name)?.text ?? "";
    const cwd = folderOf(t, {});
    const env = {
      ...process.env,
      ...(await storeSettings(server.folder)),
      HALYARD_API_KEY: keyOf("development"),
      PRODUCTION_KEY: keyOf("production"),
      HALYARD_URL: server.url,
      HALYARD_CONFIG: join(cwd, "config.json"),
      PORT: new URL(server.url).port,
    };
    for (const title of ["cli", "operator"]) {
      const commands = block(title);
      assert.match(commands, /^(npx halyard .*\n){5,}$/);
      const here = commands.replaceAll("npx halyard", `"${process.execPath}" "${commandFile}"`);
      const { stdout } = await run("sh", ["-ec", here], { cwd, env, timeout: 600_000 });
      assert.match(stdout, title === "cli" ? /Done: 1 created in production/ : /sign-in\?once=/);
    }
  });

  test("its curl examples are answered as it says", {
    skip: missing("curl", "--version"),
  }, async (t) => {
    const examples = [
      ...readme.matchAll(
        /answers\s+\*\*(\d{3})\*\*[^`]*?:\s+```sh\n(curl .*?)```\s+```json\n(.*?)```/gs,
      ),
    ].map(([, status = "", command = "", answer = ""]) => ({ status, command, answer }));
    assert.equal(examples.length, [...readme.matchAll(/^curl /gm)].length);
    assert.ok(examples.length >= 5);

    const server = await startTestServer();
    t.after(() => server.close());
    const key = server.firstKeys.find(({ environment }) => environment === "development")?.text;
    assert.ok(key);
    const call = async (command: string): Promise<readonly string[]> => {
      const script = command
        .replaceAll("http://127.0.0.1:4400", server.url)
        .replace("curl -s ", "curl -s -w '\\n%{http_code}' ");
      const env = { ...process.env, HALYARD_API_KEY: key };
      return (await run("sh", ["-c", script], { env })).stdout.split("\n");
    };
    for (const { status, command, answer } of examples) {
      const [body = "", code] = await call(command);
      assert.equal(code, status, `${command}${body}`);
      assert.deepEqual(steady(JSON.parse(body)), steady(JSON.parse(answer)), command);
    }
  });
});
