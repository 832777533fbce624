// One request for the snapshot of the environment: a new snapshot, "unchanged", or an error.
import type { Snapshot } from "../client/client-options.ts";
import { isSnapshot } from "../environment-stream/environment-events.ts";
import type { Server } from "../transport/address.ts";
import {
  type ClientError,
  errorOfResponse,
  unexpectedResponse,
  unreachable,
} from "../transport/client-error.ts";
import { exchange } from "../transport/exchange.ts";

export type FetchedSnapshot =
  | { readonly kind: "new"; readonly snapshot: Snapshot; readonly etag: string | undefined }
  | { readonly kind: "unchanged" }
  | { readonly kind: "failed"; readonly error: ClientError };

const failed = (error: ClientError): FetchedSnapshot => ({ kind: "failed", error });

const outcomeOf = async (response: Response): Promise<FetchedSnapshot> => {
  if (response.status === 304) return { kind: "unchanged" };
  if (!response.ok) return failed(await errorOfResponse(response));
  const snapshot: unknown = await response.json().catch(() => undefined);
  if (!isSnapshot(snapshot)) return failed(unexpectedResponse("a snapshot", response.status));
  const etag = response.headers.get("etag") ?? undefined;
  return { kind: "new", snapshot: snapshot as unknown as Snapshot, etag };
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
