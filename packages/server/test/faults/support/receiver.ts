// A real receiver: checks both signatures on the raw bytes, writes down what came and when, and behaves as told.
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { StoredEvent } from "../../support/database.ts";

/** `reset` cuts the connection instead of answering; `hold` answers nothing until release(). */
export type Behaviour = "up" | "unavailable" | "reset" | "hold" | { readonly slow: number };

/** One request, in the order of arrival. */
export interface Receipt {
  readonly eventId: string;
  readonly deliveryId: string;
  readonly type: string;
  readonly flagKey: string;
  readonly sequence: number;
  readonly version: number;
  /** The name of the service that signed: tests give each process its own. */
  readonly service: string;
  readonly at: number;
  /** Requests at once when it arrived, this one included. */
  readonly atOnce: number;
  /** The status it was answered with; null while there is no answer, or for ever when it was cut off. */
  status: number | null;
}

export interface Receiver {
  readonly url: string;
  /** Every request that arrived whole. */
  readonly receipts: readonly Receipt[];
  /** What was wrong with any of them: a signature, a header, the body. */
  readonly wrong: readonly string[];
  /** The most requests that were ever under way at once. */
  mostAtOnce(): number;
  /** Given by the server when the webhook is made, which is before anything is sent to it. */
  secret: string;
  behave(behaviour: Behaviour | ((receipt: Receipt) => Behaviour)): void;
  /** Answers what is held back with this status. */
  release(status: number): void;
  close(): Promise<void>;
}

const hmac = (key: string | Buffer, ...parts: (string | Buffer)[]) => {
  const mac = createHmac("sha256", key);
  for (const part of parts) mac.update(part);
  return mac.digest();
};

const checkSignatures = (
  { headers }: IncomingMessage,
  service: string,
  secret: string,
  body: Buffer,
): string[] => {
  const plain = `sha256=${hmac(secret, body).toString("hex")}`;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const prefix = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.`;
  const standard = `v1,${hmac(key, prefix, body).toString("base64")}`;
  return [
    ...(secret === "" ? ["nothing was to be sent yet"] : []),
    ...(headers[`x-${service}-signature`] === plain ? [] : ["the plain signature is wrong"]),
    ...(headers["webhook-signature"] === standard ? [] : ["the standard signature is wrong"]),
  ];
};

const statusOf = { up: 204, unavailable: 503 } as const;

export const startReceiver = async (): Promise<Receiver> => {
  const receipts: Receipt[] = [];
  const wrong: string[] = [];
  const held = new Set<(status: number) => void>();
  let behaviourOf: (receipt: Receipt) => Behaviour = () => "up";
  let running = 0;
  let most = 0;

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    const atOnce = running;
    let body: Buffer;
    try {
      body = await buffer(request);
    } catch {
      // The sender is gone: nothing has arrived.
      running -= 1;
      return;
    }
    const names = Object.keys(request.headers);
    const service = names.map((name) => /^x-(.+)-signature$/.exec(name)?.[1]).find(Boolean) ?? "";
    const event = JSON.parse(body.toString()) as StoredEvent;
    const receipt: Receipt = {
      eventId: event.id,
      deliveryId: String(request.headers[`x-${service}-delivery`]),
      type: event.type,
      flagKey: (event.data.flag as { key: string }).key,
      sequence: event.sequence,
      version: event.data.version,
      service,
      at: performance.now(),
      atOnce,
      status: null,
    };
    const faults = checkSignatures(request, service, receiver.secret, body);
    if (request.headers["webhook-id"] !== event.id) faults.push("webhook-id is not the event's");
    if (request.headers[`x-${service}-event`] !== event.type) faults.push("X-Event is wrong");
    for (const fault of faults) wrong.push(`${event.id} (${event.sequence}): ${fault}`);
    receipts.push(receipt);

    const answer = (status: number): void => {
      running -= 1;
      receipt.status = status;
      response.writeHead(status).end();
    };
    const behaviour = behaviourOf(receipt);
    if (behaviour === "reset") {
      running -= 1;
      request.socket.resetAndDestroy();
    } else if (behaviour === "hold") held.add(answer);
    else if (typeof behaviour === "object") setTimeout(answer, behaviour.slow, 204);
    else answer(statusOf[behaviour]);
  };

  const server = createServer((request, response) => void receive(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    receipts,
    wrong,
    secret: "",
    mostAtOnce: () => most,
    behave(behaviour) {
      behaviourOf = typeof behaviour === "function" ? behaviour : () => behaviour;
    },
    release(status) {
      for (const answer of held) answer(status);
      held.clear();
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
  return receiver;
};

/** Where the series of a flag's sequence numbers goes back; a repetition is no step back. */
export const stepsBack = (receipts: readonly Receipt[]): string[] => {
  const last = new Map<string, number>();
  return receipts.flatMap(({ flagKey, sequence }) => {
    const before = last.get(flagKey) ?? 0;
    last.set(flagKey, sequence);
    return sequence < before ? [`${flagKey}: ${sequence} after ${before}`] : [];
  });
};
