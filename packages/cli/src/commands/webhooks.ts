// halyard webhooks: try them out from the command line.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from "@halyard/sdk";
import { Command } from "commander";
import { type ApiOptions, createCall, keyOption, urlOption } from "../api.ts";
import { CommandFailed, print } from "../output.ts";

interface ListenOptions extends ApiOptions {
  readonly port: string;
  readonly events: string;
  readonly json?: boolean;
}

const maxBodyBytes = 1_024 * 1_024;

export const webhookCommands = (): Command => {
  const group = new Command("webhooks").description("try webhooks out");
  group
    .command("listen")
    .description(
      "receive webhooks on this machine: registers a receiver, prints each event, removes it at the end",
    )
    .addOption(urlOption())
    .addOption(keyOption())
    .option("--port <number>", "where to receive on 127.0.0.1; any free port unless given", "0")
    .option("--events <names>", "the events to receive, separated by commas", "*")
    .option("--json", "print each event as one line of JSON, for scripts")
    .action(listen);
  return group;
};

const listen = async (options: ListenOptions): Promise<void> => {
  const call = createCall(options);
  if (!/^\d{1,5}$/.test(options.port)) throw new CommandFailed("--port must be a number.");
  // Nothing arrives before the registration is answered, and the secret with it.
  const { promise: secret, resolve: registered } = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    void receive(request, response, secret, options.json === true);
  });
  const port = await startListening(server, Number(options.port));
  const { promise: signalled, resolve: stop } = Promise.withResolvers<void>();
  // Further signals change nothing: the webhook is to be removed in any case.
  process.on("SIGINT", stop).on("SIGTERM", stop);
  try {
    const events = options.events.split(",").map((name) => name.trim());
    const url = `http://127.0.0.1:${port}/`;
    const webhook = await call<{ id: string; secret: string }>("POST", "/webhooks", {
      url,
      events,
    });
    registered(webhook.secret);
    console.error(
      `Listening on ${url} as ${webhook.id} for ${events.join(", ")}. Ctrl-C ends it and removes the webhook.`,
    );
    try {
      await signalled;
    } finally {
      await call("DELETE", `/webhooks/${webhook.id}`);
      console.error(`Removed the webhook ${webhook.id}.`);
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
};

const startListening = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", (error) => {
      reject(new CommandFailed(`port ${port} on 127.0.0.1 cannot be used (${error.message}).`));
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
    const event = await verifyWebhook(body, request.headers, await secret, { scheme: "standard" });
    print(json ? JSON.stringify(event) : describe(event));
    response.writeHead(204).end();
  } catch (error) {
    const isForged = error instanceof WebhookVerificationError;
    console.error(`Refused a request: ${error instanceof Error ? error.message : String(error)}`);
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

/** One line for a person. */
const describe = (event: WebhookEvent): string => {
  const time = new Date(event.createdAt).toLocaleTimeString();
  const by = `by ${event.actor.name}`;
  if (event.type === "webhook.test") return `${time}  ${event.type.padEnd(13)}  ${by}`;
  const { flag, version, previous } = event.data;
  const changes = Object.entries(previous)
    .map(
      ([field, old]) =>
        `${field} ${JSON.stringify(old)} → ${JSON.stringify(flag[field as keyof typeof flag])}`,
    )
    .join(", ");
  const what = `${flag.key} v${version}${changes === "" ? "" : `  ${changes}`}`;
  return `${time}  ${event.type.padEnd(13)}  #${event.sequence}  ${what}  ${by}`;
};
