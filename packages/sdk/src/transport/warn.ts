// Logs why a client cannot load its flags and what to check, and which listeners and evaluations fail.
import type { ClientError } from "./client-error.ts";

/** Receives a message for each problem; `false` logs nothing. */
export type Log = ((message: string, error: ClientError) => void) | false;

export interface Warnings {
  readonly problem: (error: ClientError) => void;
  readonly listenerFailed: (name: string, cause: unknown) => void;
  readonly evaluationFailed: (error: ClientError) => void;
}

const toConsole: Log = (message, { code, cause }) =>
  // The stack of the cause leads to the listener.
  console.warn(message, ...(code === "LISTENER_FAILED" ? [cause] : []));

export const warnWith = (log: Log = toConsole, address: string): Warnings => {
  /** As text, a cause can throw, and so can a logger: neither must stop the client. */
  const write = (error: ClientError, more: unknown): void => {
    try {
      if (log !== false)
        log(`Halyard: ${error.message.replace(/\.$/, "")}. ${String(more)}`, error);
    } catch {}
  };
  const hintFor = ({ code, status }: ClientError): string => {
    if (code === "UNAUTHORIZED") {
      return "Check the key: it may be revoked, expired, or of another server. ";
    }
    // A server that responds with 503 is the right one.
    return code === "UNEXPECTED_ANSWER" || (code === "UNREACHABLE" && !status)
      ? `Check that ${address} is a Halyard server at least as new as this SDK. `
      : "";
  };
  return {
    problem: (error) =>
      write(error, `${hintFor(error)}The last known values or the fallbacks apply.`),
    listenerFailed(name, cause) {
      write({ code: "LISTENER_FAILED", message: `a listener of "${name}" failed`, cause }, cause);
    },
    evaluationFailed: (error) =>
      write(error, "The fallback applies. This is logged once for each key."),
  };
};
