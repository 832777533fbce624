// Every open stream of this process, whatever carries it: its place, its count, and its end.
import { type Failure, fail, type Result } from "../../platform/errors.ts";
import { keyRefused } from "../../platform/http/errors/error-reply.ts";
import type { HttpMeter, StreamKind } from "../../platform/telemetry/http-meter.ts";
import { createStreamShares, type StreamHolder, type StreamLimits } from "./stream-shares.ts";

export interface OpenStreams {
  /** Whether this holder may open one more now. */
  admit(holder: StreamHolder): Result<undefined>;
  /** Takes a place. `end` is called when the stream has to end; what it returns is called once when it has ended. */
  begin(kind: StreamKind, holder: StreamHolder, end: (why: Failure) => void): () => void;
  /** Ends the streams of these keys. */
  readonly endOf: (keyIds: ReadonlySet<string>) => void;
  /** Ends all, and takes no more. */
  close(): void;
}

interface OpenStream {
  readonly keyId: string;
  readonly end: (why: Failure) => void;
}

const closing: Failure = {
  code: "UNAVAILABLE",
  message: "The server is shutting down; try again.",
};

export const createOpenStreams = (
  limits: StreamLimits,
  counts: HttpMeter["streams"],
): OpenStreams => {
  const shares = createStreamShares(limits);
  const all = new Set<OpenStream>();
  let closed = false;

  return {
    admit: (holder) => (closed ? fail(closing) : shares.admit(holder)),
    begin(kind, holder, end) {
      const stream: OpenStream = { keyId: holder.keyId, end };
      const giveBack = shares.take(holder);
      all.add(stream);
      counts[kind].open += 1;
      counts[kind].opened += 1;
      return () => {
        giveBack();
        all.delete(stream);
        counts[kind].open -= 1;
      };
    },
    endOf(keyIds) {
      for (const { keyId, end } of all) if (keyIds.has(keyId)) end(keyRefused);
    },
    close() {
      closed = true;
      for (const { end } of all) end(closing);
    },
  };
};
