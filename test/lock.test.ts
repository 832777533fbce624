// Every lock file installs on a clean machine of any platform, and names no registry.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";

interface Entry {
  readonly version?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Development tools of other platforms that the registry did not list yet when these versions were locked. `npm run lock` asks again;
 * a version that is not here needs its hashes.
 */
const unlisted: readonly string[] = [
  "@biomejs 2.6.6",
  "@oxc-parser 0.155.0",
  "@oxlint 1.93.0",
  "@oxlint-tsgolint 7.0.2006",
  "@rolldown 1.2.19",
];

for (const file of ["package-lock.json", "bench/peers/package-lock.json"]) {
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

    test("every package has the hash of what is installed", () => {
      const bare = Object.entries(packages).filter(
        ([path, { integrity, link }]) =>
          path.includes("node_modules/") && !link && integrity === undefined,
      );
      const unexpected = bare.filter(([path, { version, dev, optional, os, cpu }]) => {
        const scope = path.slice("node_modules/".length).split("/")[0];
        const isElsewhere = dev && optional && (os ?? cpu) !== undefined;
        return !isElsewhere || !unlisted.includes(`${scope} ${version}`);
      });
      assert.deepEqual(
        unexpected.map(([path]) => path),
        [],
        "run npm run lock",
      );
      for (const [path, { integrity }] of Object.entries(packages)) {
        if (integrity !== undefined) assert.match(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/, path);
      }
    });

    test("no entry names where it was fetched from", () => {
      const addresses = Object.values(packages).filter(({ resolved }) =>
        /^https?:/.test(resolved ?? ""),
      );
      assert.deepEqual(addresses, []);
    });
  });
}
