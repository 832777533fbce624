// Reports to the server which revision the client has applied: immediately after a change, then up to 4 times a second.
import type { Server } from "../transport/address.ts";
import { isTemporary } from "../transport/client-error.ts";
import { lastReportTimeout, sendReport } from "../transport/send-report.ts";
import { runRepeatedly, startTimer } from "../transport/timers.ts";
import { delayAfter, roughly, type Timing } from "../transport/timing.ts";
import type { ClientIdentity } from "./client-identity.ts";

/** Milliseconds between two reports. */
const minimumPause = 250;

/** The body of a report. */
export interface AppliedState extends ClientIdentity {
  readonly revision: string;
}

export interface AppliedReport {
  /** The client has applied the revision of this name. */
  readonly applied: (revision: string) => void;
  /** A stream is open, perhaps to an instance that does not know this client: reports the revision again. */
  readonly connected: () => void;
  /** For the usage report; undefined until a revision has been applied. */
  readonly current: () => AppliedState | undefined;
  /** Reports that the client stops. */
  close(): Promise<void>;
}

export const startAppliedReport = (
  server: Server,
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

  const send = (timeout: number, more: object = {}): Promise<number> =>
    sendReport(
      server,
      "/api/v1/clients",
      JSON.stringify({ ...identity, revision, ...more }),
      timeout,
      isClosed,
    );

  const run = async () => {
    isDue = false;
    isSending = true;
    const status = await send(timing.requestTimeout);
    isSending = false;
    isTaken = status >= 200 && status < 300;
    // A key without the permission for reports: retry rarely.
    const isRefused = status >= 400 && status < 500 && !isTemporary(status);
    failures = isTaken || isRefused ? 0 : failures + 1;
    const delay = isTaken ? minimumPause : delayAfter(failures, timing);
    notBefore = performance.now() + (isRefused ? roughly(timing.maximumDelay) : delay);
    if (!isTaken && !isRefused) isDue = true;
    schedule();
  };

  const schedule = () => {
    if (!isDue || isSending || isClosed || cancel !== undefined) return;
    // A timer even if there is no pause: changes that arrive together share one report.
    cancel = startTimer(Math.max(0, notBefore - performance.now()), () => {
      cancel = undefined;
      if (!isClosed) void run();
    });
  };

  const reportSoon = () => {
    if (revision === undefined) return;
    isDue = true;
    schedule();
  };

  const stop = runRepeatedly(() => roughly(timing.usageInterval), reportSoon);

  return {
    applied(name) {
      revision = name;
      reportSoon();
    },
    connected: reportSoon,
    current: () => (revision === undefined ? undefined : { ...identity, revision }),
    async close() {
      isClosed = true;
      stop();
      cancel?.();
      if (isTaken)
        await send(Math.min(lastReportTimeout, timing.requestTimeout), { leaving: true });
    },
  };
};
