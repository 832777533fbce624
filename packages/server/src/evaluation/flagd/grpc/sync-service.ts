// SyncFlags and FetchAllFlags: whose key it is, whether there is a place, and what a refusal is called in gRPC.
import { type handleServerStreamingCall, type ServerWritableStream, status } from "@grpc/grpc-js";
import type { KeyCheck } from "../../../platform/auth/authenticate.ts";
import type { ApiKeyCache } from "../../../platform/auth/key-cache.ts";
import { type ErrorCode, type Failure, fail, ok, type Result } from "../../../platform/errors.ts";
import { keyRefused, statusOf } from "../../../platform/http/errors/error-reply.ts";
import type { HttpMeter } from "../../../platform/telemetry/http-meter.ts";
import type { Clients } from "../../clients/connected-clients.ts";
import type { Snapshot } from "../../snapshot.ts";
import type { Snapshots } from "../../snapshots.ts";
import type { OpenStreams } from "../../streams/open-streams.ts";
import type { StreamHolder } from "../../streams/stream-shares.ts";
import type { FlagdDefinitions } from "../definitions.ts";
import type { FlagsRequest } from "./messages.ts";
import { createSyncStreams } from "./sync-streams.ts";

export interface SyncServiceDependencies {
  readonly snapshots: Snapshots;
  readonly flagdDefinitions: FlagdDefinitions;
  readonly keyCheck: Pick<KeyCheck, "check">;
  readonly keyCache: Pick<ApiKeyCache, "isValid">;
  readonly openStreams: OpenStreams;
  readonly clients: Pick<Clients, "streams">;
  readonly meter: Pick<HttpMeter, "route">;
  readonly now: () => number;
  readonly log: { error(fields: object, message: string): void };
  /** The peer has sent a key that is good for this. */
  readonly admitted: (peer: string) => void;
  /** Ends the connection of this peer. */
  readonly cut: (peer: string) => void;
}

export interface SyncService {
  readonly handlers: {
    readonly SyncFlags: handleServerStreamingCall<FlagsRequest, Buffer>;
    readonly FetchAllFlags: handleServerStreamingCall<FlagsRequest, Buffer>;
  };
  close(): void;
}

type Call = ServerWritableStream<FlagsRequest, Buffer>;

const statuses: Readonly<Partial<Record<ErrorCode, status>>> = {
  UNAUTHORIZED: status.UNAUTHENTICATED,
  FORBIDDEN: status.PERMISSION_DENIED,
  RATE_LIMITED: status.RESOURCE_EXHAUSTED,
  UNAVAILABLE: status.UNAVAILABLE,
  CONFLICT: status.FAILED_PRECONDITION,
};
const refusalOf = ({ code, message }: Failure) => ({
  code: statuses[code] ?? status.INTERNAL,
  details: message,
});

const noKey: Failure = {
  code: "UNAUTHORIZED",
  message:
    "This call needs an API key; send it as authorization: Bearer <API_KEY> in the metadata, as provider_id, or as selector.",
};
const internalError: Failure = {
  code: "INTERNAL",
  message: "The server has made a mistake; it is in its log.",
};

/** Not every provider can send metadata, and that of JavaScript can send nothing but a selector. */
const keyOf = ({ metadata, request }: Call): string => {
  const [header] = metadata.get("authorization");
  const sent = String(header ?? "").replace(/^Bearer +/i, "");
  return (sent || request.providerId || request.selector).trim();
};

interface Admitted {
  readonly holder: StreamHolder;
  readonly snapshot: Snapshot;
}

export const createSyncService = (dependencies: SyncServiceDependencies): SyncService => {
  const { snapshots, keyCheck, keyCache, openStreams, clients, meter, now, log } = dependencies;
  const { admitted, cut } = dependencies;
  const onFailed = (err: unknown) => log.error({ err }, "a flagd definition could not be sent");
  const streams = createSyncStreams(snapshots, dependencies.flagdDefinitions, now, onFailed);

  const answered = (name: string, failure: Failure | undefined, begun: number): void => {
    meter
      .route("POST", `/flagd.sync.v1.FlagSyncService/${name}`)
      .done(failure ? statusOf[failure.code] : 200, now() - begun);
  };

  const admit = async (call: Call): Promise<Result<Admitted>> => {
    const text = keyOf(call);
    if (text === "") return fail(noKey);
    const client = { ip: call.getPeer().replace(/:\d+$/, ""), headers: {} };
    const checked = await keyCheck.check(text, client, "flags.follow");
    if (!checked.ok) return checked;
    const { keyId, environment } = checked.value.principal;
    const snapshot = snapshots.get(environment.id);
    if (!snapshot) return fail(keyRefused);
    const definition = await streams.message(snapshot);
    if (!definition.ok) return definition;
    // It may have been revoked while the definition was made.
    if (!keyCache.isValid(keyId)) return fail(keyRefused);
    return ok({ holder: { environmentId: environment.id, keyId }, snapshot });
  };

  const tryAdmit = (call: Call): Promise<Result<Admitted>> =>
    admit(call).catch((error: unknown) => {
      onFailed(error);
      return fail(internalError);
    });

  const serve = async (name: "SyncFlags" | "FetchAllFlags", call: Call): Promise<void> => {
    const begun = now();
    const follows = name === "SyncFlags";
    const peer = call.getPeer();
    const end = (failure: Failure): boolean => call.emit("error", refusalOf(failure));
    const found = await tryAdmit(call);
    if (found.ok) admitted(peer);
    const place = found.ok ? openStreams.admit(found.value.holder) : found;
    if (!place.ok) {
      answered(name, place.failure, begun);
      end(place.failure);
    }
    if (!found.ok || !place.ok || call.cancelled) return;

    const { holder, snapshot } = found.value;
    const ended = new DisposableStack();
    call.once("cancelled", () => ended.dispose());
    let isSending = false;
    // What nobody reads is kept for as long as it waits, so a call that asks once has a place too.
    const leave = openStreams.begin("flagd", holder, (failure) => {
      // What waits for a slow reader would hold the call open.
      if (isSending) cut(peer);
      else end(failure);
      ended.dispose();
    });
    ended.defer(leave);
    if (follows) ended.defer(clients.streams(holder, undefined));
    const { keyId } = holder;
    const stop = streams.begin(
      { keyId, snapshot, follows },
      {
        send(bytes, sent) {
          isSending = true;
          call.write(bytes, () => {
            isSending = false;
            sent();
            if (follows) return;
            answered(name, undefined, begun);
            call.end();
            ended.dispose();
          });
        },
        refuse: (failure) => {
          answered(name, failure, begun);
          if (isSending) cut(peer);
          else end(failure);
          ended.dispose();
        },
        cut: () => cut(peer),
      },
    );
    ended.defer(stop);
  };

  return {
    handlers: {
      SyncFlags: (call) => void serve("SyncFlags", call).catch(onFailed),
      FetchAllFlags: (call) => void serve("FetchAllFlags", call).catch(onFailed),
    },
    close: () => streams.close(),
  };
};
