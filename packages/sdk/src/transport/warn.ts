// Tells the developer what keeps a client from its flags, and what to check.
import type { ClientError } from "./client-error.ts";

/** Receives one sentence for each problem; `false` keeps the client silent. */
export type Log = ((message: string, error: ClientError) => void) | false;

const advice: Readonly<Partial<Record<ClientError["code"], (address: string) => string>>> = {
  UNREACHABLE: (address) => `Is ${address} the address of the server?`,
  UNAUTHORIZED: () => "Check the key: it may be revoked, expired, or of another server.",
  FORBIDDEN: () => "Use a key with another role.",
  UNEXPECTED_ANSWER: (address) =>
    `Is ${address} the address of a Halyard server, and is the server at least as new as this SDK?`,
};

export const warnWith = (log: Log | undefined, address: string): ((error: ClientError) => void) => {
  if (log === false) return () => {};
  const write = log ?? ((message: string) => console.warn(message));
  return (error) => {
    const isBusy = error.code === "UNREACHABLE" && error.status !== undefined;
    const hint = isBusy ? undefined : advice[error.code]?.(address);
    const what = `Halyard: ${error.message.replace(/\.$/, "")}.`;
    try {
      write(
        `${what}${hint === undefined ? "" : ` ${hint}`} The client keeps trying; until then the last known values or the fallbacks apply.`,
        error,
      );
    } catch {
      // A logger that throws must not stop the client.
    }
  };
};
