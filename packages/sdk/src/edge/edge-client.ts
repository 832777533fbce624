// The client for edge runtimes: loads the flags when a request needs them, and keeps only values between requests.
import type { Client, Snapshot } from "../client/client-options.ts";
import type { AnyFlags } from "../flag-types.ts";
import { type Address, serverAt } from "../transport/address.ts";
import { checkClientOptions, type OptionKinds } from "../transport/check-options.ts";
import type { ClientError } from "../transport/client-error.ts";
import { type Log, warnWith } from "../transport/warn.ts";
import { type EdgeFlags, edgeFlags, knownFlags } from "./edge-flags.ts";
import { fetchSnapshot } from "./fetch-snapshot.ts";

export interface EdgeOptions extends Address {
  /** Milliseconds for which loaded flags are used again without a request to the server; 0 by default. */
  readonly maxAge?: number;
  /** Milliseconds that the server may take; 3,000 by default. */
  readonly timeout?: number;
  /** Flags to use until the server's are loaded: what `GET /api/v1/snapshot` returns. */
  readonly bootstrap?: Snapshot;
  /** Receives each problem once until it is over: `console.warn` by default; `false` logs nothing. */
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

export interface EdgeClient<Flags = AnyFlags> {
  /**
   * The environment's flags for one request: the server's, or the last known ones with an `error`. Never rejects. Call it once for
   * each request: the flags don't change afterwards.
   */
  load(): Promise<EdgeFlags<Flags>>;
}

interface CreateEdgeClient {
  /** The keys and values that `Flags` declares, such as the interface that `halyard types` writes, are checked by the compiler. */
  <Flags = AnyFlags>(options: EdgeOptions): EdgeClient<Flags>;
  // `ReturnType<typeof createEdgeClient>` takes the last signature.
  (options: EdgeOptions): EdgeClient;
}

/** Limits the server's Retry-After: a running program should not wait longer. */
const longestPause = 60_000;

export const createEdgeClient: CreateEdgeClient = (options: EdgeOptions): EdgeClient => {
  checkClientOptions(options as object, edgeOptionKinds);
  const server = serverAt(options);
  const { maxAge = 0, timeout = 3_000, bootstrap, log } = options;
  const warn = warnWith(log, server.base);
  /** Replaced as a whole, so that the flags always belong to the tag. */
  let known: { readonly flags: Client; readonly etag?: string | undefined } | undefined =
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
      // The response to a later request is newer.
      if (number < used) return current();
      used = number;
      if (fetched.kind === "failed") {
        // A quick failure may be over at the next request. A server that hangs is left alone for as long as it took.
        fail(fetched.error, fetched.error.retryAfter ?? performance.now() - startedAt);
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
