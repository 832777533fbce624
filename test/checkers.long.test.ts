// The checkers themselves: each one fails on a breach of each of its rules, and passes the same file without it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("..", import.meta.url));
const fixtures = join(project, "test", "fixtures");
const made: string[] = [];
after(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A project of its own with these files: its path in there, and its text or the file that it is a copy of. */
const newProject = (files: Readonly<Record<string, string | { readonly copy: string }>>) => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-checkers-"));
  made.push(folder);
  symlinkSync(join(project, "node_modules"), join(folder, "node_modules"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    if (typeof content === "string") writeFileSync(join(folder, path), content);
    else copyFileSync(content.copy, join(folder, path));
  }
  return folder;
};

const run = (folder: string, command: string, ...args: string[]) => {
  const path = join(project, "node_modules", ".bin", command);
  const { status, stdout, stderr } = spawnSync(path, args, {
    cwd: folder,
    encoding: "utf8",
    timeout: 600_000,
  });
  return { status, stdout, output: stdout + stderr };
};

const ofProject = (path: string) => ({ copy: join(project, path) });
const ofFixture = (path: string) => ({ copy: join(fixtures, path) });

suite("types", () => {
  const check = (fixture: string) => {
    const config = { extends: "./tsconfig.base.json", include: ["file.ts"] };
    const folder = newProject({
      "package.json": '{ "type": "module" }',
      "tsconfig.base.json": ofProject("tsconfig.base.json"),
      "tsconfig.json": JSON.stringify(config),
      ".oxlintrc.json": ofProject(".oxlintrc.json"),
      "file.ts": ofFixture(`types/${fixture}.ts`),
    });
    return run(folder, "oxlint", "--type-aware", "--type-check", "--deny-warnings", "file.ts");
  };
  const codes = {
    TS2322: "strict, and noUncheckedIndexedAccess",
    TS2375: "exactOptionalPropertyTypes",
    TS1294: "erasableSyntaxOnly",
    TS4114: "noImplicitOverride",
    TS7030: "noImplicitReturns",
    TS7029: "noFallthroughCasesInSwitch",
    TS6133: "noUnusedLocals and noUnusedParameters",
    TS1484: "verbatimModuleSyntax",
  };

  test("each rule of the compiler is on", () => {
    const { status, output } = check("broken");
    assert.notEqual(status, 0);
    const found = [...output.matchAll(/\((TS\d+)\)/g)].map(([, code = ""]) => code);
    assert.deepEqual([...new Set(found)].sort(), Object.keys(codes).sort(), output);
    assert.equal(found.filter((code) => code === "TS2322").length, 2, output);
    assert.equal(found.filter((code) => code === "TS6133").length, 2, output);
  });

  test("a sound file passes", () => {
    const { status, output } = check("sound");
    assert.equal(status, 0, output);
  });

  test("every TypeScript file belongs to a project above it, with whose options it is checked", () => {
    const listed = new Map<string, Set<string>>();
    const filesOf = (folder: string): Set<string> => {
      const known = listed.get(folder);
      if (known) return known;
      const { stdout } = run(project, "tsc", "-p", folder, "--showConfig");
      const { files: found } = JSON.parse(stdout) as { files: readonly string[] };
      const files = new Set(found.map((file) => join(project, folder, file)));
      listed.set(folder, files);
      return files;
    };
    const isChecked = (path: string, folder = dirname(path)): boolean =>
      (existsSync(join(project, folder, "tsconfig.json")) &&
        filesOf(folder).has(join(project, path))) ||
      (folder !== "." && isChecked(path, dirname(folder)));
    const files = globSync("{packages/*/{src,test},bench,conformance,scripts,test}/**/*.{ts,tsx}", {
      cwd: project,
    }).filter((path) => !/fixtures|node_modules/.test(path));
    files.push("packages/dashboard/vite.config.ts");
    assert.ok(files.length > 50);
    assert.deepEqual(
      files.filter((path) => !isChecked(path)),
      [],
    );
    assert.equal(listed.size, 5);
  });

  test("what runs in browsers too has nothing of Node's", () => {
    for (const name of ["core", "sdk", "dashboard"]) {
      const folder = `packages/${name}${name === "dashboard" ? "" : "/src"}`;
      const { stdout } = run(project, "tsc", "-p", folder, "--showConfig");
      const { compilerOptions } = JSON.parse(stdout) as { compilerOptions: { types?: unknown } };
      assert.deepEqual(compilerOptions.types, [], folder);
    }
  });
});

suite("promises and exhaustiveness", () => {
  const check = (fixture: string) => {
    const folder = newProject({
      "package.json": '{ "type": "module" }',
      "tsconfig.json": ofProject("tsconfig.base.json"),
      ".oxlintrc.json": ofProject(".oxlintrc.json"),
      "file.ts": ofFixture(`promises/${fixture}.ts`),
    });
    return run(folder, "oxlint", "--type-aware", "--deny-warnings", "file.ts");
  };
  const rules = [
    "no-floating-promises",
    "no-misused-promises",
    "await-thenable",
    "switch-exhaustiveness-check",
    "only-throw-error",
  ];

  test("each rule is on", () => {
    const { status, output } = check("broken");
    assert.notEqual(status, 0);
    const found = [...output.matchAll(/typescript(?:-eslint)?\(([a-z-]+)\)/g)];
    assert.deepEqual(found.map(([, rule = ""]) => rule).sort(), rules.sort(), output);
  });

  test("a sound file passes", () => {
    const { status, output } = check("sound");
    assert.equal(status, 0, output);
  });
});

suite("dead code", () => {
  const check = (fixture: string) => {
    const manifest = { name: "a", version: "1.0.0", type: "module", private: true };
    const folder = newProject({
      "package.json": JSON.stringify({ ...manifest, workspaces: ["packages/*"] }),
      "knip.json": ofProject("knip.json"),
      "packages/b/package.json": JSON.stringify({
        ...manifest,
        name: "b",
        exports: "./src/index.ts",
      }),
      "packages/b/src/index.ts":
        'import { used } from "./file.ts";\n\nexport const shown = used;\n',
      "packages/b/src/file.ts": ofFixture(`dead-code/${fixture}.ts`),
      ...(fixture === "broken" && { "packages/b/src/orphan.ts": "export const orphan = 1;\n" }),
    });
    return run(folder, "knip", "--no-config-hints");
  };

  test("an export and a file that nobody uses are found", () => {
    const { status, output } = check("broken");
    assert.notEqual(status, 0);
    assert.match(output, /Unused files \(1\)\s+packages\/b\/src\/orphan\.ts/);
    assert.match(output, /Unused exports \(1\)\s+forgotten\s+packages\/b\/src\/file\.ts/);
  });

  test("the same without them passes", () => {
    const { status, output } = check("sound");
    assert.equal(status, 0, output);
  });
});

interface Report {
  readonly diagnostics: readonly {
    readonly category: string;
    readonly location: { readonly path: string; readonly start: { readonly line: number } };
  }[];
}

suite("format and lint", () => {
  const importing = (from: string) => `import { x } from "${from}";

export const y = x;
`;
  const circle = (from: string) => importing(from).replace("{ x }", "{ y as x }");
  const lines = (count: number) =>
    Array.from({ length: count }, (_, index) => `export const x${index} = 1;\n`).join("");

  /** By rule: the path and text of a file that breaks it, and of its sound twin. */
  const rules: Readonly<Record<string, readonly [[string, string], [string, string]]>> = {
    format: [
      ["a/badly-formatted.ts", "export   const x = 1\n"],
      ["a/formatted.ts", "export const x = 1;\n"],
    ],
    "lint/style/noDefaultExport": [
      ["a/default.ts", "export default 1;\n"],
      ["a/named.ts", "export const x = 1;\n"],
    ],
    "lint/style/useFilenamingConvention": [
      ["a/camelCase.ts", "export const x = 1;\n"],
      ["a/kebab-case.ts", "export const x = 1;\n"],
    ],
    "lint/style/noExcessiveLinesPerFile": [
      ["a/too-long.ts", lines(301)],
      ["a/long.ts", lines(300)],
    ],
    "lint/suspicious/noImportCycles": [
      ["a/circle.ts", circle("./circle-end.ts")],
      ["a/line.ts", importing("./named.ts")],
    ],
    "lint/performance/noBarrelFile": [
      ["a/barrel.ts", 'export { x } from "./named.ts";\n'],
      ["a/src/index.ts", 'export { x } from "../named.ts";\n'],
    ],
    "lint/correctness/noUndeclaredDependencies": [
      ["a/undeclared.ts", importing("kysely")],
      ["a/declared.ts", importing("typebox")],
    ],
  };

  let diagnostics: Report["diagnostics"];
  before(() => {
    const manifests = globSync("packages/*/package.json", { cwd: project });
    const folder = newProject({
      "biome.json": ofProject("biome.json"),
      "package.json": ofProject("package.json"),
      ...Object.fromEntries(manifests.map((path) => [path, ofProject(path)])),
      "a/package.json": '{ "name": "a", "dependencies": { "typebox": "1" } }\n',
      "a/circle-end.ts": circle("./circle.ts"),
      ...Object.fromEntries(Object.values(rules).flat()),
    });
    const options = [
      "--vcs-enabled=false",
      "--colors=off",
      "--reporter=json",
      "--max-diagnostics=none",
    ];
    const { status, stdout, output } = run(folder, "biome", "ci", ...options, ".");
    assert.equal(status, 1, output);
    ({ diagnostics } = JSON.parse(stdout) as Report);
  });

  for (const [rule, [broken, sound]] of Object.entries(rules)) {
    test(rule, () => {
      const found = (path: string) =>
        diagnostics.filter(({ location }) => location.path === path).map((one) => one.category);
      assert.deepEqual([...new Set(found(broken[0]))], [rule]);
      assert.deepEqual(found(sound[0]), []);
    });
  }
});
