// An Unleash server as its documentation starts it: on PostgreSQL, with tokens that the environment sets.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { untilReady } from "./footprint.ts";
import { freePort } from "./free-port.ts";
import type { Started } from "./processes.ts";

export const tokens = {
  admin: "*:*.unleash-bench-admin-token",
  client: "default:development.unleash-bench-client-token",
  frontend: "default:development.unleash-bench-frontend-token",
};

const script = join(
  import.meta.dirname,
  "../peers/server/node_modules/unleash-server/dist/server.js",
);

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill();
});

export const startUnleash = async (databaseUrl: string): Promise<Started> => {
  const port = await freePort();
  const child = spawn(process.execPath, ["--disable-warning=DeprecationWarning", script], {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: "production",
      DATABASE_URL: databaseUrl,
      DATABASE_SSL: "false",
      PORT: String(port),
      HTTP_HOST: "127.0.0.1",
      LOG_LEVEL: "warn",
      CHECK_VERSION: "false",
      SEND_TELEMETRY: "false",
      // No limit that a minute of load reaches; Halyard has none here either.
      SDK_API_RATE_LIMIT_PER_MINUTE: "1000000000",
      TOKEN_AUTHENTICATION_RATE_LIMIT_PER_MINUTE: "1000000000",
      INIT_ADMIN_API_TOKENS: tokens.admin,
      INIT_BACKEND_API_TOKENS: tokens.client,
      INIT_FRONTEND_API_TOKENS: tokens.frontend,
    },
  });
  running.add(child);
  const url = `http://127.0.0.1:${port}`;
  await untilReady(`${url}/health`);
  return {
    pid: child.pid ?? 0,
    url,
    async stop() {
      running.delete(child);
      child.kill();
      if (child.exitCode === null) await once(child, "exit");
    },
  };
};
