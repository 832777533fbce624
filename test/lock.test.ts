// Every lock file installs on a clean machine of any platform, and names no registry.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";

interface Entry {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

for (const file of [
  "package-lock.json",
  "bench/peers/package-lock.json",
  "bench/peers/server/package-lock.json",
]) {
  suite(file, () => {
    const { packages } = JSON.parse(readFileSync(file, "utf8")) as {
      packages: Readonly<Record<string, Entry>>;
    };

    test("every optional package of every platform is in the lock file: npm ci refuses it otherwise", () => {
      const names = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
        Object.keys(optionalDependencies),
      );
      assert.ok(names.length > 0);
      const missing = names.filter((name) => !packages[`node_modules/${name}`]);
      assert.deepEqual(missing, [], "run npm run lock");
      const anywhere = names.filter((name) => {
        const entry = packages[`node_modules/${name}`];
        return entry?.integrity === undefined && !entry?.os && !entry?.cpu;
      });
      assert.deepEqual(anywhere, [], "these would be fetched on every platform");
    });

    test("no entry names where it was fetched from", () => {
      const addresses = Object.values(packages).filter(({ resolved }) =>
        /^https?:/.test(resolved ?? ""),
      );
      assert.deepEqual(addresses, []);
    });
  });
}
