// halyard webhooks listen: a receiver on this machine, for as long as the command runs.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from "@halyard/sdk";
import type { Command } from "commander";
import {
  answered,
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { placeOf } from "../../server-connection/place.ts";
import { withExamples } from "../../terminal/examples.ts";
import { changesInOneLine } from "../../terminal/flag-text.ts";
import { wholeNumber } from "../../terminal/option-values.ts";
import { CommandFailed, inOneLine, jsonText, print, printAside } from "../../terminal/output.ts";
import { outputClosed } from "../../terminal/output-closed.ts";
import { eventNames } from "../../terminal/webhook-text.ts";

interface ListenOptions extends ConnectionOptions {
  readonly port: number;
  readonly events: string;
  readonly json?: boolean;
}

const maxBodyBytes = 1_024 * 1_024;

export const addListenCommand = (group: Command): void => {
  const listening = serverCommand(group.command("listen"))
    .description(
      "receive webhooks on this machine: registers a receiver, prints each event, removes it at the end",
    )
    .option(
      "--port <number>",
      "the port on 127.0.0.1 (any free port by default)",
      wholeNumber(0, 65_535),
      0,
    )
    .option("--events <names>", "the events to receive, separated by commas", "*")
    .addHelpText(
      "after",
      `
The server must be allowed to call this machine: one that runs here is, unless it also listens on other addresses.
With --json each event is one line.`,
    )
    .action(listen);
  withExamples(
    listening,
    "halyard webhooks listen",
    "halyard webhooks listen --events flag.enabled,flag.disabled --json",
  );
};

const listen = async (options: ListenOptions): Promise<void> => {
  const connection = connect(options);
  const { webhooks } = connection.management;
  const place = await placeOf(connection);
  // The response to the registration brings the secret; no event arrives before.
  const { promise: secret, resolve: registered } = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    void receive(request, response, secret, options.json === true);
  });
  const port = await startListening(server, options.port);
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  // Further signals change nothing: the webhook must be removed in any case.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);
  outputClosed.addEventListener("abort", () => stop());
  try {
    const events = eventNames(options.events);
    const url = `http://127.0.0.1:${port}/`;
    const webhook = answered(connection, await webhooks.create({ url, events }));
    registered(webhook.secret);
    printAside(
      `Listening on ${url} as ${webhook.id} for ${events.join(", ")} ${place.text}. Ctrl-C stops it and removes the webhook.`,
    );
    try {
      await stopped;
    } finally {
      answered(connection, await webhooks.delete(webhook.id));
      printAside(`Removed the webhook ${webhook.id} ${place.text}.`);
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
};

const startListening = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", (error) => {
      reject(
        new CommandFailed(
          `Port ${port} on 127.0.0.1 cannot be used (${error.message}): choose another with --port.`,
        ),
      );
    });
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });

const receive = async (
  request: IncomingMessage,
  response: ServerResponse,
  secret: Promise<string>,
  json: boolean,
): Promise<void> => {
  try {
    const body = await readBody(request);
    const event = await verifyWebhook(body, request.headers, await secret);
    print(json ? jsonText(event) : inOneLine(describe(event)));
    response.writeHead(204).end();
  } catch (error) {
    const isForged = error instanceof WebhookVerificationError;
    printAside(`Refused a request: ${error instanceof Error ? error.message : String(error)}`);
    response.writeHead(isForged ? 401 : 400).end();
  }
};

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBodyBytes) throw new Error("the body is larger than 1 MiB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** One line for people. */
const describe = (event: WebhookEvent): string => {
  const { createdAt: time } = event;
  const by = `by ${event.actor.name}`;
  if (event.type === "webhook.test") return `${time}  ${event.type.padEnd(13)}  ${by}`;
  const { flag, version, previous } = event.data;
  const changes = changesInOneLine(event.type === "flag.created" ? null : previous, flag);
  const what = `${flag.key} v${version}${changes === "" ? "" : `  ${changes}`}`;
  return `${time}  ${event.type.padEnd(13)}  #${event.sequence}  ${what}  ${by}`;
};
