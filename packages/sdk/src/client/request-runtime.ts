// Detects runtimes that stop timers and connections between requests: Cloudflare Workers, and edge runtimes such as that of Next.js.
import type { ClientError } from "../transport/client-error.ts";
import { startTimer } from "../transport/timers.ts";
import { type Log, warnWith } from "../transport/warn.ts";

const stopsBetweenRequests = (): boolean => {
  const { navigator, EdgeRuntime } = globalThis as {
    readonly navigator?: { readonly userAgent?: unknown };
    readonly EdgeRuntime?: unknown;
  };
  return navigator?.userAgent === "Cloudflare-Workers" || EdgeRuntime !== undefined;
};

/** False while a Worker loads its modules: only its handlers can start timers, send requests and create random numbers. */
const mayStart = (): boolean => {
  try {
    startTimer(0, () => {})();
    return true;
  } catch {
    return false;
  }
};

const between: ClientError = {
  code: "UNSUPPORTED_RUNTIME",
  message:
    "this runtime stops timers and connections when a request ends, so a client that lives longer misses changes: use createEdgeClient of @halyard/sdk/edge",
};

const outside: ClientError = {
  code: "UNSUPPORTED_RUNTIME",
  message:
    "this runtime doesn't let a client start outside of a request: use createEdgeClient of @halyard/sdk/edge",
};

let hasWarned = false;

/** Warns once where a client can't follow changes. Returns why it can't even start. */
export const checkRuntime = (log: Log | undefined): ClientError | undefined => {
  if (!stopsBetweenRequests()) return undefined;
  if (!mayStart()) return outside;
  if (hasWarned || log === false) return undefined;
  warnWith(log, "").problem(between);
  hasWarned = true;
  return undefined;
};
