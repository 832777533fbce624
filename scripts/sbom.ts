// npm run sbom: writes a software bill of materials of what runs in production, sbom.cdx.json (CycloneDX), from the lock file.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

interface Bom {
  readonly metadata: { readonly component: { readonly "bom-ref": string } };
  readonly components: readonly { readonly "bom-ref": string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}
interface Lock {
  readonly name: string;
  readonly packages: Readonly<
    Record<string, { readonly name?: string; readonly version?: string; readonly dev?: boolean }>
  >;
}

const file = process.argv[2] ?? "sbom.cdx.json";
const { name, packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as Lock;
const { status, stdout, stderr } = spawnSync(
  "npm",
  ["sbom", "--sbom-format", "cyclonedx", "--sbom-type", "application", "--package-lock-only"],
  { encoding: "utf8", maxBuffer: 100_000_000 },
);
if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);
const bom = JSON.parse(stdout) as Bom;

// The lock file knows what only development needs. With --omit dev, npm also leaves out what both need.
const needed = new Set(
  Object.entries(packages)
    .filter(([, { version, dev }]) => version !== undefined && !dev)
    .map(([path, entry]) => `${entry.name ?? path.split("node_modules/").at(-1)}@${entry.version}`),
);
const { metadata } = bom;
const components = bom.components.filter((component) => needed.has(component["bom-ref"]));
const content = {
  ...bom,
  // npm puts the name of the folder there.
  metadata: { ...metadata, component: { ...metadata.component, name } },
  components,
  dependencies: bom.dependencies
    .filter(({ ref }) => needed.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((on) => needed.has(on)) })),
};
writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
console.log(`${file}: ${components.length} components`);
