// The gRPC server of flagd.sync.v1.FlagSyncService, on a port of its own.
import { once } from "node:events";
import { type AddressInfo, createServer, type ListenOptions, type Socket } from "node:net";
import {
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { decodeRequest } from "./messages.ts";
import { createSyncService, type SyncServiceDependencies } from "./sync-service.ts";

export interface FlagdTls {
  readonly certificate: Buffer;
  readonly key: Buffer;
}

export interface FlagdServerDependencies extends Omit<SyncServiceDependencies, "admitted" | "cut"> {
  readonly tls: FlagdTls | undefined;
  /** Milliseconds between two heartbeats. */
  readonly heartbeat: number;
  /** Milliseconds in which a new connection must have sent a good key: a call whose message never comes would hold it for ever. */
  readonly requestTimeout: number;
  /** Connections count like those of HTTP; one too many is closed. */
  readonly overload: {
    watch(server: { on(event: "connection", listener: (socket: Socket) => void): unknown }): void;
    isExcess(socket: Socket): boolean;
  };
}

export interface FlagdServer {
  /** Gives the port. */
  listen(options: ListenOptions): Promise<number>;
  /** Takes no more, and ends when all calls have ended, or after so many milliseconds. */
  close(timeout: number): Promise<void>;
}

/** Requests are a few texts; a key has at most 200 characters. */
const maxRequestBytes = 16_384;
/** Milliseconds after which a connection without a call is closed. */
const idleTimeout = 60_000;
/** Calls that a connection may have open at once. */
const maxCalls = 100;

const bytesAsTheyAre = (bytes: Buffer): Buffer => bytes;
const method = (name: string) => ({
  path: `/flagd.sync.v1.FlagSyncService/${name}`,
  requestStream: false,
  // A single answer is a stream of one, of which the library tells when it was taken.
  responseStream: true,
  requestSerialize: bytesAsTheyAre,
  requestDeserialize: decodeRequest,
  responseSerialize: bytesAsTheyAre,
  responseDeserialize: bytesAsTheyAre,
});
/** GetMetadata is deprecated: whoever calls it is told that it is not implemented, as providers expect. */
const definition: ServiceDefinition = {
  SyncFlags: method("SyncFlags"),
  FetchAllFlags: method("FetchAllFlags"),
};

export const createFlagdServer = (dependencies: FlagdServerDependencies): FlagdServer => {
  const { tls, heartbeat, requestTimeout, overload } = dependencies;
  const grpc = new Server({
    "grpc.max_receive_message_length": maxRequestBytes,
    "grpc.max_send_message_length": -1,
    "grpc.max_concurrent_streams": maxCalls,
    "grpc.max_connection_idle_ms": idleTimeout,
    "grpc.keepalive_time_ms": heartbeat,
    "grpc.enable_channelz": 0,
  });
  /** By the name that the library gives to the other side of a call. */
  const sockets = new Map<string, Socket>();
  /** Those that have not sent a good key yet, and when they are closed. */
  const strangers = new Map<Socket, NodeJS.Timeout>();
  const isNoStranger = (socket: Socket | undefined): void => {
    if (!socket) return;
    clearTimeout(strangers.get(socket));
    strangers.delete(socket);
  };
  const service = createSyncService({
    ...dependencies,
    admitted: (peer) => isNoStranger(sockets.get(peer)),
    cut: (peer) => sockets.get(peer)?.destroy(),
  });
  grpc.addService(definition, service.handlers as UntypedServiceImplementation);

  // Listening is ours: several processes share the port, and connections count like those of HTTP.
  const injector = grpc.createConnectionInjector(
    tls
      ? ServerCredentials.createSsl(null, [{ cert_chain: tls.certificate, private_key: tls.key }])
      : ServerCredentials.createInsecure(),
  );
  const listener = createServer({ noDelay: true });
  overload.watch(listener);
  listener.on("connection", (socket) => {
    if (overload.isExcess(socket)) {
      socket.destroy();
      return;
    }
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    sockets.set(peer, socket);
    strangers.set(
      socket,
      setTimeout(() => socket.destroy(), requestTimeout),
    );
    socket.once("close", () => {
      sockets.delete(peer);
      isNoStranger(socket);
    });
    // The library listens for errors once it has read the first bytes.
    socket.on("error", () => socket.destroy());
    injector.injectConnection(socket);
  });

  return {
    async listen(options) {
      listener.listen(options);
      await once(listener, "listening");
      return (listener.address() as AddressInfo).port;
    },
    async close(timeout) {
      listener.close();
      service.close();
      for (const socket of strangers.keys()) socket.destroy();
      const { promise, resolve } = Promise.withResolvers<void>();
      const impatient = setTimeout(() => {
        for (const socket of sockets.values()) socket.destroy();
        grpc.forceShutdown();
        resolve();
      }, timeout);
      grpc.tryShutdown(() => resolve());
      await promise;
      clearTimeout(impatient);
    },
  };
};
