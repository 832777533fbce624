// halyard webhooks listen: forwards the events of an environment, signed as webhooks, to a receiver that the server cannot reach.
import { createHmac, randomBytes } from "node:crypto";
import { request as beginHttp } from "node:http";
import { request as beginHttps } from "node:https";
import { cloudEventHeaders } from "@halyard/core/cloud-event";
import { eventTypes } from "@halyard/core/event-types";
import {
  defaultServiceName,
  type Mac,
  plainKey,
  signedHeaders,
  standardKey,
} from "@halyard/core/webhook-signature";
import { version } from "@halyard/server/version";
import { type Command, Option } from "commander";
import {
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { followEvents, type LoggedEvent } from "../../server-connection/follow-events.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { moment } from "../../terminal/option-values.ts";
import { CommandFailed, inOneLine, jsonText, print, printAside } from "../../terminal/output.ts";
import { untilStopped } from "../../terminal/output-closed.ts";
import { eventNames, eventText } from "../../terminal/webhook-text.ts";

interface ListenOptions extends ConnectionOptions {
  readonly forwardTo?: string;
  readonly events: string;
  readonly since?: Date;
  readonly secret?: string;
  readonly serviceName: string;
  readonly cloudEvents?: true;
  readonly json?: boolean;
}

/** In milliseconds, the same as the server's limit for receivers. */
const longestRequest = 15_000;

export const addListenCommand = (group: Command): void => {
  const listening = serverCommand(group.command("listen"), "a server")
    .description(
      "receive webhooks on this machine: prints each event, and forwards it to a receiver",
    )
    .option(
      "--forward-to <address>",
      "POST each event to this address, signed like a webhook request",
    )
    .option("--events <names>", "the events to receive, separated by commas", "*")
    .option("--since <time>", "start with the events since this time, or this long ago", moment)
    .addOption(
      new Option("--secret <secret>", "sign with this secret, whsec_… (a new one by default)").env(
        "HALYARD_WEBHOOK_SECRET",
      ),
    )
    .addOption(
      new Option("--service-name <name>", "the name in the headers, if the server has another")
        .env("HALYARD_SERVICE_NAME")
        .default(defaultServiceName),
    )
    .option("--cloud-events", "include CloudEvents headers")
    .addHelpText(
      "after",
      `
The command registers no webhook. It follows the environment, wherever the server runs, and sends the same requests as
a webhook, signed with its own secret. It sends each event once, in order, and does not retry.
With --json, each event is one line.`,
    )
    .action(listen);
  withExamples(
    listening,
    "halyard webhooks listen",
    "halyard webhooks listen --forward-to http://localhost:3000/hook",
    "halyard webhooks listen --events flag.enabled,flag.disabled --json",
  );
};

const usageError = (message: string): CommandFailed => new CommandFailed(message, exitCodes.usage);

const addressOf = (text: string): string => {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return url.href;
  throw usageError(
    `--forward-to requires an address such as http://localhost:3000/hook, not ${text}.`,
  );
};

const secretOf = (given: string | undefined): string => {
  const secret = given ?? `whsec_${randomBytes(32).toString("base64")}`;
  try {
    standardKey(secret);
  } catch {
    throw usageError("--secret must be whsec_ followed by base64.");
  }
  return secret;
};

/** Selects the events to show. */
const choose = (text: string): ((event: LoggedEvent) => boolean) => {
  const names: readonly string[] = eventNames(text);
  const allowed = ["*", ...eventTypes];
  const unknown = names.find((name) => !allowed.includes(name));
  if (names.length === 0 || unknown !== undefined) {
    throw usageError(`--events accepts ${allowed.join(", ")}.`);
  }
  return ({ type }) => names.includes("*") || names.includes(type);
};

const mac: Mac = (scheme, secret, data) =>
  createHmac("sha256", scheme === "plain" ? plainKey(secret) : standardKey(secret))
    .update(data)
    .digest();

/** Not with fetch, which adds headers of its own. A receiver must get exactly what the server would send. */
const post = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const begin = url.startsWith("https:") ? beginHttps : beginHttp;
    const sent = {
      ...headers,
      "user-agent": `Halyard/${version}`,
      "accept-encoding": "identity",
      "content-length": body.length,
    };
    begin(url, { method: "POST", headers: sent, signal }, (response) => {
      response.resume().once("close", () => resolve(response.statusCode ?? 0));
    })
      .once("error", reject)
      .end(body);
  });

const listen = async (options: ListenOptions): Promise<void> => {
  const connection = connect(options);
  const target = options.forwardTo === undefined ? undefined : addressOf(options.forwardTo);
  const secret = secretOf(options.secret);
  const isChosen = choose(options.events);
  const stop = untilStopped();

  /** A description of the receiver's response. */
  const forward = async (url: string, event: LoggedEvent): Promise<string> => {
    const body = new TextEncoder().encode(JSON.stringify(event));
    const deliveryId = `dlv_${randomBytes(16).toString("hex")}`;
    const { serviceName } = options;
    const headers = {
      ...signedHeaders({ serviceName, deliveryId, event, body, at: new Date(), secret }, mac),
      ...(options.cloudEvents && cloudEventHeaders(event, connection.url)),
    };
    const started = performance.now();
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(longestRequest)]);
    try {
      const status = await post(url, headers, body, signal);
      return `${status} in ${Math.round(performance.now() - started)} ms`;
    } catch (error) {
      const { message, cause } = error as Error;
      return inOneLine(cause instanceof Error ? cause.message : message);
    }
  };

  await followEvents(
    connection,
    options.since,
    {
      onStart(environment, sequence) {
        printAside(
          target === undefined
            ? `Listening to ${environment} after event ${sequence}. Ctrl-C stops it.`
            : `Forwarding the events of ${environment} after event ${sequence} to ${target}, signed with ${secret}. Ctrl-C stops it.`,
        );
      },
      async onEvent(event) {
        if (!isChosen(event)) return;
        print(options.json ? jsonText(event) : eventText(event));
        if (target !== undefined) printAside(`  ${target}: ${await forward(target, event)}`);
      },
    },
    stop,
  );
};
