// The files of the built dashboard: each is read by its first request, and kept. Everyone who is sent it shares the bytes.
import { readdirSync, readFileSync } from "node:fs";

export interface DashboardFiles {
  /** The page, with a placeholder where each answer has its nonce. */
  readonly page: string;
  /** Whether there is a file of this path, such as `assets/app.js`. */
  has(path: string): boolean;
  /** Undefined when the dashboard was built again under the running server, and the file is gone. */
  read(path: string): Buffer | undefined;
}

/** What is served: the page's assets, and the package of the SDK that goes with this server. */
const parts = ["assets", "sdk"];

const unlessMissing = <T>(look: () => T): T | undefined => {
  try {
    return look();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
};

/** Undefined when it is not built. */
export const findDashboard = (folder: string): DashboardFiles | undefined =>
  unlessMissing(() => {
    const page = readFileSync(`${folder}/index.html`, "utf8");
    const paths = new Set(
      parts.flatMap((part) => readdirSync(`${folder}/${part}`).map((name) => `${part}/${name}`)),
    );
    const kept = new Map<string, Buffer>();
    return {
      page,
      has: (path) => paths.has(path),
      read(path) {
        const bytes = kept.get(path) ?? unlessMissing(() => readFileSync(`${folder}/${path}`));
        if (bytes) kept.set(path, bytes);
        return bytes;
      },
    };
  });
