// Many followers of flagd.sync.v1 in a process of their own, each on its own connection: says when each had a definition.
import { once } from "node:events";
import { connect } from "node:http2";
import { type ClientReport, sharedNow } from "./stream-clients.ts";

export interface FlagdOrder {
  readonly port: number;
  readonly key: string;
  readonly count: number;
}

/** So many connect at once. */
const batch = 50;
/** Bytes that may be on their way to a client. */
const windowSize = 4 * 1_024 * 1_024;

const tell = (report: ClientReport): void => {
  process.send?.(report);
};

const serve = async ({ port, key, count }: FlagdOrder): Promise<void> => {
  let times: number[] = [];
  let isFirst = true;

  const follow = async (): Promise<void> => {
    const session = connect(`http://127.0.0.1:${port}`, {
      settings: { initialWindowSize: windowSize },
    });
    await once(session, "connect");
    session.setLocalWindowSize(windowSize);
    const stream = session.request({
      ":method": "POST",
      ":path": "/flagd.sync.v1.FlagSyncService/SyncFlags",
      "content-type": "application/grpc",
      te: "trailers",
      authorization: key,
    });
    stream.end(Buffer.alloc(5));
    const { promise, resolve } = Promise.withResolvers<void>();
    let head = Buffer.alloc(0);
    /** Bytes of the message still to come. */
    let missing = 0;
    stream.on("data", (chunk: Buffer) => {
      let rest = chunk;
      while (rest.length > 0) {
        if (missing === 0) {
          const wanted = 5 - head.length;
          head = Buffer.concat([head, rest.subarray(0, wanted)]);
          rest = rest.subarray(wanted);
          if (head.length < 5) return;
          missing = head.readUInt32BE(1);
          head = Buffer.alloc(0);
        }
        const taken = Math.min(missing, rest.length);
        missing -= taken;
        rest = rest.subarray(taken);
        if (missing > 0) return;
        if (isFirst) resolve();
        else times.push(sharedNow());
        if (times.length === count) tell({ kind: "times", times });
      }
    });
    await promise;
  };

  for (let opened = 0; opened < count; opened += batch) {
    await Promise.all(Array.from({ length: Math.min(batch, count - opened) }, follow));
  }
  isFirst = false;
  process.on("message", () => {
    times = [];
    tell({ kind: "waiting" });
  });
  tell({ kind: "open", count });
};

// Not as an argument: what is imported above would take it for its own.
const order = process.env.BENCH_ORDER;
if (order !== undefined) await serve(JSON.parse(order) as FlagdOrder);
