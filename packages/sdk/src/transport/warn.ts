// Logs why a client cannot get its flags and what to check, and which listeners and evaluations fail.
import type { ClientError } from "./client-error.ts";

/** Receives one sentence for each problem; `false` keeps the client silent. */
export type Log = ((message: string, error: ClientError) => void) | false;

export interface Warnings {
  readonly problem: (error: ClientError) => void;
  readonly listenerFailed: (name: string, cause: unknown) => void;
  readonly evaluationFailed: (error: ClientError) => void;
}

const advice: Readonly<Partial<Record<ClientError["code"], (address: string) => string>>> = {
  UNREACHABLE: (address) => `Is ${address} the address of the server?`,
  UNAUTHORIZED: () => "Check the key: it may be revoked, expired, or of another server.",
  FORBIDDEN: () => "Use a key with another role.",
  UNSUPPORTED_RUNTIME: () => "Use createEdgeClient of @halyard/sdk/edge here.",
  UNEXPECTED_ANSWER: (address) =>
    `Is ${address} the address of a Halyard server, and is the server at least as new as this SDK?`,
};

const toConsole = (message: string, error: ClientError): void => {
  // With the stack that leads to the listener.
  if (error.code === "LISTENER_FAILED") console.warn(`Halyard: ${error.message}:`, error.cause);
  else console.warn(message);
};

export const warnWith = (log: Log = toConsole, address: string): Warnings => {
  const write = (message: () => string, error: ClientError): void => {
    try {
      if (log !== false) log(message(), error);
    } catch {
      // A logger that throws must not stop the client.
    }
  };
  return {
    problem(error) {
      const isBusy = error.code === "UNREACHABLE" && error.status !== undefined;
      const hint = isBusy ? undefined : advice[error.code]?.(address);
      const what = `Halyard: ${error.message.replace(/\.$/, "")}.`;
      const next =
        error.code === "UNSUPPORTED_RUNTIME"
          ? undefined
          : "The client keeps trying; until then the last known values or the fallbacks apply.";
      write(() => [what, hint, next].filter((part) => part !== undefined).join(" "), error);
    },
    listenerFailed(name, cause) {
      const message = `a listener of "${name}" failed`;
      // As text, a cause can throw.
      const text = () => `Halyard: ${message}: ${String(cause)}`;
      write(text, { code: "LISTENER_FAILED", message, cause });
    },
    evaluationFailed: (error) =>
      write(
        () => `Halyard: ${error.message} The fallback applies. This is logged once for each key.`,
        error,
      ),
  };
};
