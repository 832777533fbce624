// The client for edge runtimes: loads the flags when a request needs them, and keeps nothing but values between requests.
import type { Snapshot } from "../client/client-options.ts";
import { type Address, serverAt } from "../transport/address.ts";
import { checkClientOptions, type OptionKinds } from "../transport/check-options.ts";
import type { ClientError } from "../transport/client-error.ts";
import { type Log, warnWith } from "../transport/warn.ts";
import { type EdgeFlags, edgeFlags, type KnownFlags, knownFlags } from "./edge-flags.ts";
import { fetchSnapshot } from "./fetch-snapshot.ts";

export interface EdgeOptions extends Address {
  /** Milliseconds for which loaded flags are used again without a request to the server; 0 by default. */
  readonly maxAge?: number;
  /** Milliseconds that the server may take; 3,000 by default. */
  readonly timeout?: number;
  /** Flags to use until the server's are loaded: what `GET /api/v1/snapshot` returns. */
  readonly bootstrap?: Snapshot;
  /** Where a problem is reported, once until it is over: `console.warn` by default, `false` for nowhere. */
  readonly log?: Log;
}

const edgeOptionKinds: OptionKinds<EdgeOptions> = {
  url: "string",
  key: "string",
  fetch: "function",
  maxAge: "number",
  timeout: "number",
  bootstrap: "object",
  log: "function or false",
};

export interface EdgeClient {
  /**
   * The environment's flags for one request: the server's, or the last known ones with an `error`. Never rejects. Call it once for
   * each request: the flags don't change afterwards.
   */
  load(): Promise<EdgeFlags>;
}

/** A server may ask for a longer pause than a running program should keep. */
const longestPause = 60_000;

export const createEdgeClient = (options: EdgeOptions): EdgeClient => {
  checkClientOptions(options as object, edgeOptionKinds);
  const server = serverAt(options);
  const { maxAge = 0, timeout = 3_000, bootstrap, log } = options;
  const warn = warnWith(log, server.base);
  /** Replaced as a whole, so that the flags always belong to the tag. */
  let known: { readonly flags: KnownFlags; readonly etag?: string | undefined } | undefined =
    bootstrap && { flags: knownFlags(bootstrap, log) };
  let error: ClientError | undefined;
  let notBefore = 0;
  let sent = 0;
  /** The number of the newest request whose response was used. */
  let used = 0;

  const current = (): EdgeFlags => edgeFlags(known?.flags, error);
  const fail = (problem: ClientError, pause: number) => {
    if (problem.code !== error?.code) warn.problem(problem);
    error = problem;
    notBefore = performance.now() + Math.min(pause, longestPause);
  };

  return {
    async load() {
      const startedAt = performance.now();
      if (startedAt < notBefore) return current();
      // While the server fails, one request at a time tries it, and the others don't wait for it.
      if (error !== undefined) notBefore = startedAt + timeout;
      const before = known;
      sent += 1;
      const number = sent;
      const fetched = await fetchSnapshot(server, timeout, before?.etag);
      // A request that was sent later knows better.
      if (number < used) return current();
      used = number;
      if (fetched.kind === "failed") {
        const { retryAfter, error: problem } = fetched;
        // A quick failure may be over at the next request. A server that hangs is left alone for as long as it took.
        fail(problem, retryAfter ?? performance.now() - startedAt);
        return current();
      }
      // Unchanged since `before`, which another request may have replaced by now.
      known =
        fetched.kind === "new"
          ? { flags: knownFlags(fetched.snapshot, log), etag: fetched.etag }
          : before;
      error = undefined;
      notBefore = performance.now() + maxAge;
      return current();
    },
  };
};
