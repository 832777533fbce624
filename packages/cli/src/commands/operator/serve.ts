// halyard serve: starts the server and prints its addresses.
import { flushCompileCache } from "node:module";
import type { Server } from "@halyard/server";
import { Command } from "commander";
import { dataOption, variablesWith } from "../../operator.ts";
import { withExamples } from "../../terminal/examples.ts";
import { print } from "../../terminal/output.ts";

export const serveCommand = (): Command => {
  const command = new Command("serve")
    .description("start the server and print its addresses")
    .option("--port <number>", "the port to listen on (instead of PORT; 4400 by default)")
    .option("--host <address>", "the address to listen on (instead of HOST; 127.0.0.1 by default)")
    .option(
      "--workers <number>",
      "the number of worker processes, or auto for one per core (instead of HALYARD_WORKERS; 1 by default)",
    )
    .option(...dataOption)
    .action(async (options: { port?: string; host?: string; workers?: string; data?: string }) => {
      // Loaded on demand, so that help appears without delay.
      const { parseConfig, serveUntilSignal } = await import("@halyard/server");
      const config = parseConfig({
        ...variablesWith(options.data),
        ...(options.port !== undefined && { PORT: options.port }),
        ...(options.host !== undefined && { HOST: options.host }),
        ...(options.workers !== undefined && { HALYARD_WORKERS: options.workers }),
      });
      await serveUntilSignal(config, (server) => {
        greet(server);
        // Node writes the compile cache only at a clean exit by default, so a killed server would lose it.
        flushCompileCache();
      });
    });
  return withExamples(command, "halyard serve", "halyard serve --port 8080 --workers auto");
};

/** Printed in one write, so that no log line comes between. */
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
      "This is the first start. Save these admin keys now: they are shown only once.",
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
    ? "The link signs you in once, within ten minutes. After that, sign in with an API key."
    : "Sign in with an API key.";
