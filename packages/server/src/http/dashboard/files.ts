// The built dashboard in memory: read once at the start, served from there.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  /** Made by the build for what gets smaller by it. */
  readonly brotli: Buffer | undefined;
  readonly gzip: Buffer | undefined;
}

export interface DashboardFiles {
  /** The page, with a placeholder where each answer has its nonce. */
  readonly page: string;
  /** By file name, which changes with the content. */
  readonly assets: ReadonlyMap<string, Asset>;
  /** The package of the SDK that goes with this server, by file name. */
  readonly sdk: ReadonlyMap<string, Tarball>;
}

export interface Tarball {
  readonly bytes: Buffer;
  /** Names the content: the file name has only the version, and a version in development changes. */
  readonly tag: string;
}

const types: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  map: "application/json; charset=utf-8",
  png: "image/png",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

const isCompressed = /\.(br|gz)$/;

const readTarball = (path: string): Tarball => {
  const bytes = readFileSync(path);
  return { bytes, tag: createHash("sha256").update(bytes).digest("base64url").slice(0, 22) };
};

/** Undefined when it is not built. */
export const loadDashboard = (folder: string): DashboardFiles | undefined => {
  try {
    const inAssets = (name: string): Buffer => readFileSync(join(folder, "assets", name));
    const names = new Set(readdirSync(join(folder, "assets")));
    const variant = (name: string) => (names.has(name) ? inAssets(name) : undefined);
    const assets = [...names]
      .filter((name) => !isCompressed.test(name))
      .map((name): [string, Asset] => [
        name,
        {
          type: types[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream",
          plain: inAssets(name),
          brotli: variant(`${name}.br`),
          gzip: variant(`${name}.gz`),
        },
      ]);
    return {
      page: readFileSync(join(folder, "index.html"), "utf8"),
      assets: new Map(assets),
      sdk: new Map(
        readdirSync(join(folder, "sdk")).map((name) => [
          name,
          readTarball(join(folder, "sdk", name)),
        ]),
      ),
    };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
};
