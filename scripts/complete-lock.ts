// npm run lock: adds to package-lock.json the optional packages of other platforms, which npm leaves out when it cannot see them.
import { readFileSync, writeFileSync } from "node:fs";

interface Entry {
  version?: string;
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
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)),
);
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} optional packages added to ${file}`);
