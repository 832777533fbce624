// Many clients of one stream in a process of their own: says when the last has a value, and when each of them got it.
import { connect } from "node:net";
import { createClient } from "../../packages/sdk/src/client/client.ts";

/** What the process is started with. */
export interface ClientOrder {
  readonly url: string;
  readonly key: string;
  readonly count: number;
  /** Bare sockets that look for the revision in the bytes, or clients of the SDK whose value is asked. */
  readonly kind: "socket" | "sdk";
  readonly flag: string;
}

/** What it is asked then: to tell when all have this revision, at which the flag has this value. */
export interface Expectation {
  readonly revision: number;
  readonly enabled: boolean;
}

export type ClientReport =
  | { readonly kind: "open"; readonly count: number }
  | { readonly kind: "waiting" }
  /** Milliseconds on the clock that all processes of the machine share. */
  | { readonly kind: "times"; readonly times: readonly number[] };

/** The same in every process. */
export const sharedNow = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

/** So many connect at once. */
const batch = 200;

const tell = (report: ClientReport): void => {
  process.send?.(report);
};

const serve = async (order: ClientOrder): Promise<void> => {
  const { url, key, count, kind, flag } = order;
  let expected: Expectation | undefined;
  let marker = "";
  let times: number[] = [];
  const got = (): void => {
    times.push(sharedNow());
    if (times.length === count) tell({ kind: "times", times });
  };

  const port = Number(new URL(url).port);
  const openSocket = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      socket.write(`GET /api/v1/stream HTTP/1.1\r\nHost: bench\r\nX-API-Key: ${key}\r\n\r\n`);
      socket.once("error", reject);
      socket.on("data", (chunk) => {
        if (expected && chunk.includes(marker)) got();
        else if (chunk.includes("event: snapshot")) resolve();
      });
    });
  const openClient = async () => {
    const client = createClient({ url, key, reportUsage: false });
    await client.ready();
    client.on("change", () => {
      if (expected && client.isEnabled(flag) === expected.enabled) got();
    });
  };

  for (let opened = 0; opened < count; opened += batch) {
    const now = Math.min(batch, count - opened);
    await Promise.all(Array.from({ length: now }, kind === "socket" ? openSocket : openClient));
  }
  process.on("message", (message: Expectation) => {
    expected = message;
    marker = `"revision":${message.revision},`;
    times = [];
    tell({ kind: "waiting" });
  });
  tell({ kind: "open", count });
};

const [order] = process.argv.slice(2);
if (order !== undefined) await serve(JSON.parse(order) as ClientOrder);
