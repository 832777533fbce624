// A new flag type needs its own files and a line in each registry: in a copy of the project it is added, checked and used.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { spawnHalyard } from "../packages/server/test/support/halyard-process.ts";

const project = fileURLToPath(new URL("..", import.meta.url));
const fixture = (name: string) => join(project, "test/fixtures/flag-type", name);

/** The sources and what they are checked with; of the packages, those of the copy are found. */
const copyProject = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-flag-type-"));
  const files = globSync(
    ["package.json", ".oxlintrc.json", "tsconfig*.json", "packages/*/{package,tsconfig}*.json"],
    { cwd: project },
  );
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    copyFileSync(join(project, file), join(folder, file));
  }
  for (const file of globSync("packages/*/src", { cwd: project })) {
    cpSync(join(project, file), join(folder, file), { recursive: true });
  }
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@halyard"), { recursive: true });
  for (const name of readdirSync(join(project, "node_modules"))) {
    if (name === "@halyard" || name === ".cache") continue;
    symlinkSync(join(project, "node_modules", name), join(modules, name));
  }
  for (const name of readdirSync(join(folder, "packages"))) {
    symlinkSync(join(folder, "packages", name), join(modules, "@halyard", name));
  }
  return folder;
};

const addLine = (path: string, line: string, importing: string): void => {
  const text = readFileSync(path, "utf8");
  const registered = text.replace(/^ {2}boolean: .*\n/m, `$&  ${line}\n`);
  assert.notEqual(registered, text, `${path} registers no types as it did`);
  writeFileSync(path, `${importing}\n${registered}`);
};

test("a flag type is added with its own files and a line in each registry", async (t) => {
  const folder = copyProject();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const core = join(folder, "packages/core/src/flags");
  const page = join(folder, "packages/dashboard/src/flags/types");
  const oxlint = join(project, "node_modules/.bin/oxlint");
  const check = () =>
    spawnSync(
      oxlint,
      ["--type-aware", "--type-check", ...globSync("packages/*/src", { cwd: folder })],
      {
        cwd: folder,
        encoding: "utf8",
      },
    );

  copyFileSync(fixture("constant.ts"), join(core, "constant.ts"));
  addLine(
    join(core, "registry.ts"),
    "constant: constantType,",
    'import { constantType } from "./constant.ts";',
  );
  const unfinished = check();
  assert.notEqual(unfinished.status, 0, "a type without an editor is found");
  assert.match(unfinished.stdout, /type-editors\.tsx/);

  copyFileSync(fixture("constant-editor.tsx"), join(page, "constant-editor.tsx"));
  addLine(
    join(page, "type-editors.tsx"),
    "constant: constantEditor,",
    'import { constantEditor } from "./constant-editor.tsx";',
  );
  const { status, stdout, stderr } = check();
  assert.equal(status, 0, stdout + stderr);

  const key = "a-key-for-a-new-flag-type";
  const server = spawnHalyard(
    ["serve"],
    {
      PORT: "0",
      HALYARD_DATA: join(folder, "data"),
      HALYARD_BOOTSTRAP_KEYS: `development=${key}`,
    },
    [process.execPath, join(folder, "packages/cli/src/main.ts")],
  );
  t.after(() => {
    server.kill("SIGKILL");
    return server.ended;
  });
  const [, url = ""] = await server.printed(/API +(\S+)\/api\/v1/);
  const call = async (method: string, path: string, body: object) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const flags = "/api/v1/flags";
  const made = await call("POST", flags, { key: "fixed", type: "constant", gives: "off" });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  assert.equal(made.body.gives, "off");
  const refused = await call("PATCH", `${flags}/fixed`, { gives: "half" });
  assert.equal(refused.status, 400);
  assert.match(JSON.stringify(refused.body), /must be \\"on\\" or \\"off\\"/);
  const changed = await call("PATCH", `${flags}/fixed`, { gives: "on", enabled: true });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  const answer = await call("POST", "/ofrep/v1/evaluate/flags/fixed", { context: {} });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.equal(answer.body.value, true);
});
