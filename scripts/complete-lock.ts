// npm run lock: adds to package-lock.json the optional packages of other platforms, which npm leaves out when it cannot see them, and
// asks the registry for every hash that is missing.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

interface Entry {
  version?: string;
  integrity?: string;
  readonly link?: boolean;
  cpu?: string[];
  dev?: boolean;
  libc?: string[];
  optional?: boolean;
  os?: string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const file = "package-lock.json";
const systems = [
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "win32",
];
const processors = [
  "arm64",
  "arm",
  "ia32",
  "loong64",
  "ppc64",
  "riscv64",
  "s390x",
  "wasm32",
  "x64",
];

const entryFor = (name: string, version: string, owner: Entry): Entry => {
  const words = name.split(/[/-]/);
  const cpu = processors.find((word) => words.includes(word));
  const os = systems.find((word) => words.includes(word));
  const libc = words.some((word) => word.startsWith("musl"))
    ? "musl"
    : words.some((word) => word.startsWith("gnu"))
      ? "glibc"
      : undefined;
  return {
    version: version.replace(/^[\^~]/, ""),
    ...(cpu && { cpu: [cpu] }),
    ...(owner.dev && { dev: true }),
    ...(os === "linux" && libc && { libc: [libc] }),
    optional: true,
    ...(os && { os: [os] }),
  };
};

const lock = JSON.parse(readFileSync(file, "utf8")) as { packages: Record<string, Entry> };
let added = 0;
for (const owner of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    if (lock.packages[path]) continue;
    lock.packages[path] = entryFor(name, version, owner);
    added += 1;
  }
}

const registry = spawnSync("npm", ["config", "get", "registry"], {
  encoding: "utf8",
}).stdout.trim();

/** Undefined when the registry does not list this version. */
const integrityOf = async (name: string, version: string): Promise<string | undefined> => {
  const response = await fetch(`${registry}${name.replace("/", "%2f")}`);
  if (!response.ok) return undefined;
  const { versions } = (await response.json()) as {
    versions: Readonly<Record<string, { dist: { integrity?: string } } | undefined>>;
  };
  return versions[version]?.dist.integrity;
};

const installed = "node_modules/";
const unknown: string[] = [];
let completed = 0;
for (const [path, entry] of Object.entries(lock.packages)) {
  if (!path.includes(installed) || entry.link || entry.integrity) continue;
  const name = path.slice(path.lastIndexOf(installed) + installed.length);
  const integrity = await integrityOf(name, entry.version ?? "");
  if (integrity === undefined) unknown.push(`${name}@${entry.version}`);
  else {
    const { version, ...rest } = entry;
    lock.packages[path] = { ...(version !== undefined && { version }), integrity, ...rest };
    completed += 1;
  }
}

lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)),
);
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} optional packages and ${completed} hashes added to ${file}`);
if (unknown.length > 0) {
  console.log(`The registry lists no hash of these; try again later:\n${unknown.join("\n")}`);
}
