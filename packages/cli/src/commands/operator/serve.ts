// halyard serve: starts the server and says where it is.
import { flushCompileCache } from "node:module";
import type { Server } from "@halyard/server";
import { Command } from "commander";
import { dataOption } from "../../operator.ts";
import { withExamples } from "../../terminal/examples.ts";
import { print } from "../../terminal/output.ts";

export const serveCommand = (): Command => {
  const command = new Command("serve")
    .description("start the server and say where it is")
    .option("--port <number>", "where to listen (instead of PORT, 4400 unless set)")
    .option("--host <address>", "where to listen (instead of HOST, 127.0.0.1 unless set)")
    .option(
      "--workers <number>",
      "processes that serve, or auto: one a core (instead of HALYARD_WORKERS, 1 unless set)",
    )
    .option(...dataOption)
    .action(async (options: { port?: string; host?: string; workers?: string; data?: string }) => {
      // Loaded when there is something to do, so that help is there at once.
      const { parseConfig, serveUntilSignal } = await import("@halyard/server");
      const config = parseConfig({
        ...process.env,
        ...(options.port !== undefined && { PORT: options.port }),
        ...(options.host !== undefined && { HOST: options.host }),
        ...(options.workers !== undefined && { HALYARD_WORKERS: options.workers }),
        ...(options.data !== undefined && { HALYARD_DATA: options.data, DATABASE_URL: undefined }),
      });
      await serveUntilSignal(config, (server) => {
        greet(server);
        // Otherwise kept at a clean end only, and so not by a server that is killed at night.
        flushCompileCache();
      });
    });
  return withExamples(command, "halyard serve", "halyard serve --port 8080 --workers auto");
};

/** Written at once, so that no line of the log comes between. */
const greet = ({ url, firstKeys, dashboard }: Server): void => {
  const lines = [
    "",
    "Halyard is up.",
    "",
    `  API        ${url}/api/v1`,
    `  Reference  ${url}/docs`,
    ...(dashboard ? [`  Dashboard  ${dashboard.url}`, `             ${hintOf(dashboard)}`] : []),
  ];
  const [first] = firstKeys;
  if (first) {
    lines.push(
      "",
      "This is the first start: here are the admin keys, shown this once. Keep them.",
      "",
      ...firstKeys.map(({ environment, text }) => `  ${environment.padEnd(12)} ${text}`),
      "",
      "Try it:",
      "",
      `  curl -s ${url}/api/v1/flags -H 'Authorization: Bearer ${first.text}' \\`,
      `    -H 'Content-Type: application/json' -d '{"key":"hello","type":"boolean"}'`,
    );
  }
  print([...lines, ""].join("\n"));
};

const hintOf = ({ signsIn }: { readonly signsIn: boolean }): string =>
  signsIn
    ? "Opening it within ten minutes signs you in, once; later sign in with an API key."
    : "Sign in with an API key.";
