// Connections on their way to a worker that dies: Node would leave them open, and their clients waiting for ever.
import type { ChildProcess } from "node:child_process";
import type { Worker } from "node:cluster";

/** What node:cluster hands to a worker: a bare connection, of which this process has a copy until the worker has it. */
interface Connection {
  close(): void;
}

/** A worker is handed one at a time for each address that it listens on. */
const idempotencyRecord = 4;

export interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Comes back when the process is gone, all that it said has been heard, and nobody waits for it. */
export const endOf = (worker: Worker): Promise<End> => {
  const { process: child } = worker;
  const sent = rememberConnections(child);
  return new Promise((resolve) => {
    const onEnd = (code: number | null, signal: NodeJS.Signals | null) => {
      // Closing one that was taken before does nothing.
      for (const connection of sent) connection.close();
      // Not said by Node itself while a connection is on its way; without it node:cluster keeps the worker on its lists.
      child.emit("disconnect");
      resolve({ code, signal });
    };
    child.once("close", onEnd);
    // One that could not be started at all neither exits nor closes.
    child.once("error", () => {
      if (child.pid === undefined) onEnd(null, null);
    });
  });
};

const rememberConnections = (child: ChildProcess): readonly Connection[] => {
  const sent: Connection[] = [];
  const send = child.send.bind(child) as (...values: readonly unknown[]) => boolean;
  child.send = (...values: readonly unknown[]): boolean => {
    const [, handle] = values;
    if (isConnection(handle)) {
      sent.push(handle);
      if (sent.length > idempotencyRecord) sent.shift();
    }
    return send(...values);
  };
  return sent;
};

const isConnection = (value: unknown): value is Connection =>
  typeof value === "object" && value !== null && "close" in value;
