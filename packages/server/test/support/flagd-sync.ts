// flagd.sync.v1.FlagSyncService as a client sees it: its messages by protobuf itself, its calls by a real gRPC client.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ChannelCredentials,
  type Client,
  type ClientReadableStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceError,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { decodeRequest } from "../../src/evaluation/flagd/grpc/messages.ts";
import { until } from "./until.ts";

const proto = `
syntax = "proto3";
package flagd.sync.v1;
import "google/protobuf/struct.proto";
message Request { string provider_id = 1; string selector = 2; }
message Response { string flag_configuration = 1; optional google.protobuf.Struct sync_context = 2; }
message Nothing {}
service FlagSyncService {
  rpc SyncFlags(Request) returns (stream Response) {}
  rpc FetchAllFlags(Request) returns (Response) {}
  rpc GetMetadata(Nothing) returns (Nothing) {}
}
`;

interface Request {
  readonly providerId?: string;
  readonly selector?: string;
}
interface Response {
  readonly flagConfiguration: string;
}
type Done = (error: ServiceError | null, response?: Response) => void;
interface SyncClient extends Client {
  SyncFlags(request: Request, metadata: Metadata): ClientReadableStream<Response>;
  FetchAllFlags(request: Request, metadata: Metadata, done: Done): void;
  GetMetadata(request: object, metadata: Metadata, done: Done): void;
}

const load = (): (new (address: string, security: ChannelCredentials) => SyncClient) => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-test-proto-"));
  const file = join(folder, "sync.proto");
  writeFileSync(file, proto);
  const loaded = loadPackageDefinition(loadSync(file)) as never as {
    flagd: { sync: { v1: { FlagSyncService: ReturnType<typeof load> } } };
  };
  rmSync(folder, { recursive: true });
  return loaded.flagd.sync.v1.FlagSyncService;
};
const Service = load();

/** How a client sends its key. */
export interface Asked extends Request {
  readonly authorization?: string;
}

const split = ({ authorization, ...request }: Asked): [Request, Metadata] => {
  const metadata = new Metadata();
  if (authorization !== undefined) metadata.set("authorization", authorization);
  return [request, metadata];
};

export interface Followed {
  /** The flags of each definition received. */
  readonly received: Record<string, { readonly defaultVariant: string }>[];
  readonly stream: ClientReadableStream<Response>;
  first(count: number): Promise<void>;
  /** The status with which the call ended, by its number. */
  readonly ended: Promise<number>;
}

export const openSync = (address: string, security = credentials.createInsecure()) => {
  const client = new Service(address, security);
  const unary = (call: (done: Done) => void) =>
    new Promise<Response | number>((resolve) => {
      call((error, response) => resolve(error ? error.code : (response ?? 0)));
    });
  return {
    follow(asked: Asked): Followed {
      const stream = client.SyncFlags(...split(asked));
      const received: Followed["received"] = [];
      stream.on("data", ({ flagConfiguration }: Response) => {
        received.push(JSON.parse(flagConfiguration).flags);
      });
      stream.on("error", () => undefined);
      const ended = new Promise<number>((resolve) => {
        stream.on("status", ({ code }) => resolve(code));
      });
      return {
        received,
        stream,
        ended,
        async first(count) {
          await until(`${count} definitions`, () => received.length >= count);
        },
      };
    },
    /** The definition as text, or the number of the status. */
    async fetchAll(asked: Asked): Promise<string | number> {
      const found = await unary((done) => client.FetchAllFlags(...split(asked), done));
      return typeof found === "number" ? found : found.flagConfiguration;
    },
    metadata: () => unary((done) => client.GetMetadata({}, new Metadata(), done)),
    close: () => client.close(),
  };
};

/** A call by HTTP/2 alone, whose message is not sent. */
export const openCall = (address: string, key: string, method = "SyncFlags") => {
  const session = connect(`http://${address}`);
  const stream = session.request({
    ":method": "POST",
    ":path": `/flagd.sync.v1.FlagSyncService/${method}`,
    "content-type": "application/grpc",
    te: "trailers",
    authorization: key,
  });
  for (const each of [session, stream]) each.on("error", () => undefined);
  return { session, stream };
};

/** Asks without reading: HTTP/2 lets 64 KiB through, and the rest waits at the server. */
export const openPaused = (address: string, key: string, method?: "FetchAllFlags") => {
  const { session, stream } = openCall(address, key, method);
  // One empty message.
  stream.end(Buffer.alloc(5));
  return {
    begun: once(stream, "response"),
    /** Reads from now on; gives the flags of so many definitions. */
    async read(count: number): Promise<object[]> {
      const received: object[] = [];
      let bytes = Buffer.alloc(0);
      stream.on("data", (chunk: Buffer) => {
        bytes = Buffer.concat([bytes, chunk]);
        while (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32BE(1)) {
          const end = 5 + bytes.readUInt32BE(1);
          // A definition is the first text of its message, as a provider's id is of a request.
          received.push(JSON.parse(decodeRequest(bytes.subarray(5, end)).providerId).flags);
          bytes = bytes.subarray(end);
        }
      });
      await until(`${count} definitions`, () => received.length >= count);
      return received;
    },
    close: () => session.destroy(),
  };
};
