// Many clients of one stream in a process of their own: reports when each of them got a value.
import { connect } from "node:net";
import { createClient } from "../../packages/sdk/src/client/client.ts";
import { benchKey as key } from "./processes.ts";

/** What the process is started with. */
export interface ClientOrder {
  readonly url: string;
  readonly flag: string;
  readonly count: number;
  /** Bare sockets that only listen, or clients of the SDK whose value is asked. */
  readonly kind: "socket" | "sdk";
}

/** Empty once it is ready, and once it waits for a value; then when each client had it, on the clock that all processes share. */
export type ClientReport = readonly number[];

/** Milliseconds, the same in every process of the machine. */
export const sharedNow = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

/** So many connect at once. */
const batch = 200;

const report = (times: ClientReport): void => {
  process.send?.(times);
};

const openSocket = (url: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(`GET /api/v1/stream HTTP/1.1\r\nHost: bench\r\nX-API-Key: ${key}\r\n\r\n`);
    socket.once("error", reject).on("data", (chunk) => {
      if (chunk.includes("event: snapshot")) resolve();
    });
  });

const serve = async ({ url, flag, count, kind }: ClientOrder): Promise<void> => {
  let expected: boolean | undefined;
  let times: number[] = [];
  const openClient = async () => {
    const client = createClient({ url, key, reportUsage: false });
    await client.ready();
    client.on("change", () => {
      if (client.isEnabled(flag) !== expected) return;
      times.push(sharedNow());
      if (times.length === count) report(times);
    });
  };
  for (let opened = 0; opened < count; opened += batch) {
    const now = Math.min(batch, count - opened);
    const open = kind === "socket" ? () => openSocket(url) : openClient;
    await Promise.all(Array.from({ length: now }, open));
  }
  process.on("message", ({ enabled }: { readonly enabled: boolean }) => {
    expected = enabled;
    times = [];
    report([]);
  });
  report([]);
};

const [order] = process.argv.slice(2);
if (order !== undefined) await serve(JSON.parse(order) as ClientOrder);
