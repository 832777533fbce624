// Tells the server which revision the client has applied: at once after a change, then at most four times a second.
import type { Server } from "../transport/address.ts";
import { isTemporary } from "../transport/client-error.ts";
import { exchange } from "../transport/exchange.ts";
import { startTimer } from "../transport/timers.ts";
import { delayAfter, roughly, type Timing } from "../transport/timing.ts";
import type { ClientIdentity } from "./client-identity.ts";

/** Milliseconds between two reports. */
const minimumPause = 250;
const lastReportTimeout = 3_000;

/** As the server takes it. */
export interface AppliedState extends ClientIdentity {
  readonly revision: string;
}

export interface AppliedReport {
  /** The revision of this name has been applied. */
  readonly applied: (revision: string) => void;
  /** A stream is open, perhaps at an instance that knows nothing of this client: it is told again. */
  readonly connected: () => void;
  /** For the usage report; undefined until the server has taken a report of its own. */
  readonly current: () => AppliedState | undefined;
  /** The same, whether or not the server has taken a report: undefined until a revision has been applied. */
  readonly known: () => AppliedState | undefined;
  /** Tells that the client stops. */
  close(): Promise<void>;
}

export const startAppliedReport = (
  { base, authorization, fetch }: Server,
  timing: Timing,
  identity: ClientIdentity,
): AppliedReport => {
  let revision: string | undefined;
  let isTaken = false;
  let isDue = false;
  let isSending = false;
  let isClosed = false;
  let failures = 0;
  let notBefore = 0;
  let cancel: (() => void) | undefined;

  const send = async (timeout: number, more: object = {}): Promise<number> => {
    try {
      return await exchange({
        fetch,
        url: `${base}/api/v1/clients`,
        init: {
          method: "POST",
          headers: { ...authorization, "content-type": "application/json" },
          body: JSON.stringify({ ...identity, revision, ...more }),
          keepalive: isClosed,
        },
        timeout,
        read: async (response) => {
          await response.text();
          return response.status;
        },
      });
    } catch {
      return 0;
    }
  };

  const run = async () => {
    isDue = false;
    isSending = true;
    const status = await send(timing.requestTimeout);
    isSending = false;
    isTaken = status >= 200 && status < 300;
    // A server from before this, or a key that may not: there is no hurry.
    const isRefused = status >= 400 && status < 500 && !isTemporary(status);
    failures = isTaken || isRefused ? 0 : failures + 1;
    const delay = isTaken ? minimumPause : delayAfter(failures, timing);
    notBefore = performance.now() + (isRefused ? roughly(timing.refusedDelay) : delay);
    if (!isTaken && !isRefused) isDue = true;
    schedule();
  };

  const schedule = () => {
    if (!isDue || isSending || isClosed || cancel !== undefined) return;
    // Also without a pause: changes that arrived together are told together.
    cancel = startTimer(Math.max(0, notBefore - performance.now()), () => {
      cancel = undefined;
      if (!isClosed) void run();
    });
  };

  const tell = () => {
    if (revision === undefined) return;
    isDue = true;
    schedule();
  };

  const known = () => (revision === undefined ? undefined : { ...identity, revision });

  let cancelNext = () => {};
  const tellRegularly = () => {
    cancelNext = startTimer(roughly(timing.usageInterval), () => {
      tell();
      tellRegularly();
    });
  };
  tellRegularly();

  return {
    applied(name) {
      revision = name;
      tell();
    },
    connected: tell,
    current: () => (isTaken ? known() : undefined),
    known,
    async close() {
      isClosed = true;
      cancelNext();
      cancel?.();
      if (isTaken)
        await send(Math.min(lastReportTimeout, timing.requestTimeout), { leaving: true });
    },
  };
};
