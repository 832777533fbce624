// A started server on a store of its own, and fresh environments in it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { composeOperator, type KeyRole, parseConfig, startServer } from "@halyard/server";
import { type Api, createApi } from "./api.ts";
import { writeMigratedFile } from "./migrated-store.ts";
import { dropDatabase } from "./postgres.ts";
import { onPostgres, storeSettings, unhurried } from "./test-store.ts";

export interface TestEnvironment {
  readonly name: string;
  readonly keys: Readonly<Record<"client" | "server" | "admin", string>>;
  /** One more, of any role. */
  readonly newKey: (role: KeyRole) => Promise<string>;
  readonly admin: Api;
  readonly server: Api;
  readonly client: Api;
}

export interface TestServer {
  readonly url: string;
  /** Where it listens for flagd, with HALYARD_FLAGD_PORT alone. */
  readonly flagd: string;
  /** Names its store, whichever it is. */
  readonly folder: string;
  readonly firstKeys: readonly { readonly environment: string; readonly text: string }[];
  /** Where the dashboard is; with a link that signs in once, unless that is turned off. */
  readonly dashboardUrl: string | undefined;
  /** Calls without a key, or with the headers given. */
  readonly anonymous: Api;
  api(key: string): Api;
  /** A new environment with a key of each role, made beside the running server as an operator would. */
  environment(): Promise<TestEnvironment>;
  close(): Promise<void>;
}

/** The name of a new store: a folder of its own. */
export const newFolder = (): string => mkdtempSync(join(tmpdir(), "halyard-test-"));

let environments = 0;

export const startTestServer = async (
  settings: Readonly<Record<string, string>> = {},
  world: Parameters<typeof startServer>[1] = {},
): Promise<TestServer> => {
  const folder = settings.HALYARD_DATA ?? newFolder();
  if (!onPostgres && settings.HALYARD_DATA === undefined) await writeMigratedFile(folder);
  const config = parseConfig({
    PORT: "0",
    HALYARD_LOG_LEVEL: "silent",
    HALYARD_MAX_LAG: unhurried,
    HALYARD_MAX_ENVIRONMENTS: "10000",
    ...(await storeSettings(folder)),
    ...settings,
  });
  const server = await startServer(config, world);
  const operator = await composeOperator(config);
  const api = (key?: string) => createApi(server.url, key);

  return {
    url: server.url,
    flagd: server.flagd ?? "",
    folder,
    firstKeys: server.firstKeys,
    dashboardUrl: server.dashboard?.url,
    anonymous: api(),
    api,
    async environment() {
      environments += 1;
      const name = `test-${environments}`;
      const made = await operator.environments.create(name);
      if (!made.ok) throw new Error(made.failure.message);
      const newKey = async (role: KeyRole): Promise<string> => {
        const { text } = await operator.keys.createAsOperator(made.value.id, { role, name: role });
        return text;
      };
      const keys = {
        client: await newKey("client"),
        server: await newKey("server"),
        admin: await newKey("admin"),
      };
      return {
        name,
        keys,
        newKey,
        admin: api(keys.admin),
        server: api(keys.server),
        client: api(keys.client),
      };
    },
    async close() {
      await operator.close();
      await server.close();
      if (settings.HALYARD_DATA !== undefined) return;
      rmSync(folder, { recursive: true, force: true });
      await dropDatabase(basename(folder));
    },
  };
};
