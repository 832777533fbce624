// One request for the snapshot of the environment: what changed, that nothing changed, or an error.
import type { Snapshot } from "../client/client-options.ts";
import { parseSnapshot } from "../environment-stream/environment-events.ts";
import type { Server } from "../transport/address.ts";
import {
  type ClientError,
  errorOfResponse,
  retryAfterOf,
  unreachable,
} from "../transport/client-error.ts";
import { exchange } from "../transport/exchange.ts";

export type FetchedSnapshot =
  | { readonly kind: "new"; readonly snapshot: Snapshot; readonly etag: string | undefined }
  | { readonly kind: "unchanged" }
  | { readonly kind: "failed"; readonly error: ClientError; readonly retryAfter?: number };

const failed = (error: ClientError): FetchedSnapshot => ({ kind: "failed", error });

const outcomeOf = async (response: Response): Promise<FetchedSnapshot> => {
  if (response.status === 304) return { kind: "unchanged" };
  if (!response.ok) {
    const retryAfter = retryAfterOf(response);
    const error = await errorOfResponse(response);
    return { kind: "failed", error, ...(retryAfter !== undefined && { retryAfter }) };
  }
  const snapshot: unknown = await response.json().catch(() => undefined);
  if (parseSnapshot(snapshot) === undefined) {
    const message = "the server's response is not a snapshot";
    return failed({ code: "UNEXPECTED_ANSWER", message, status: response.status });
  }
  const etag = response.headers.get("etag") ?? undefined;
  return { kind: "new", snapshot: snapshot as Snapshot, etag };
};

/** Never rejects. */
export const fetchSnapshot = async (
  { base, authorization, fetch }: Server,
  timeout: number,
  etag: string | undefined,
): Promise<FetchedSnapshot> => {
  const headers = { ...authorization, ...(etag !== undefined && { "if-none-match": etag }) };
  try {
    return await exchange({
      fetch,
      url: `${base}/api/v1/snapshot`,
      init: { headers },
      timeout,
      read: outcomeOf,
    });
  } catch (cause) {
    return failed(unreachable(cause));
  }
};
