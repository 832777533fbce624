// Open SyncFlags calls: each gets the definition, and then every new one. Who is slow gets the newest only.
import { setTimeout as pause } from "node:timers/promises";
import type { FlagdDefinitions } from "../evaluation/flagd-definitions.ts";
import type { Snapshot } from "../evaluation/snapshot.ts";
import type { Snapshots } from "../evaluation/snapshots.ts";
import {
  type Broadcaster,
  createBroadcaster,
  type Positioned,
} from "../http/streams/broadcaster.ts";
import { createFold } from "../http/streams/fold.ts";
import { encodeDefinition } from "./messages.ts";

/** A call to whom definitions are sent. */
export interface SyncReader {
  /** Calls back once the message has left; never when the call has ended before. */
  send(message: Buffer, sent: () => void): void;
  /** Ends a call that does not read, with its connection. */
  cut(): void;
}

export interface SyncStreams {
  /** A message with the definition of this revision, made once for all who ask. */
  message(snapshot: Snapshot): Promise<Buffer>;
  /** Sends the definition now and whenever it changes; what it returns is to be called when the call has ended. */
  begin(snapshot: Snapshot, reader: SyncReader): () => void;
  close(): void;
}

interface Subscriber extends Positioned {
  readonly reader: SyncReader;
  /** What is on its way to the reader. */
  sending: { readonly length: number; readonly since: number } | undefined;
  /** What is to be sent after it: the newest. */
  next: Buffer | undefined;
  /** What it has got, or will get next. */
  latest: Buffer | undefined;
  ended: boolean;
}

interface Environment {
  readonly broadcaster: Broadcaster<Subscriber>;
  readonly tell: () => void;
}

/** Milliseconds within which changes are told as one, at least. */
const foldWithin = 100;
/** Compiling takes at most this part of the time, however fast the changes come. */
const compileShare = 0.2;
/** Bytes that may be on their way before the next reader is written to: the library copies a message for each of them. */
const maxSending = 64 * 1_024 * 1_024;
/** Milliseconds that readers are waited for when so much is on its way. */
const longestRest = 250;
/** Milliseconds in which a reader must have taken a message. */
const takeWithin = 60_000;

export const createSyncStreams = (
  snapshots: Snapshots,
  definitions: FlagdDefinitions,
  now: () => number,
  onFailed: (error: unknown) => void,
): SyncStreams => {
  const environments = new WeakMap<Snapshot, Environment>();
  /** By the bytes of the definition. */
  const messages = new WeakMap<Buffer, Buffer>();
  const busy = new Set<Subscriber>();
  let sending = 0;
  let lessSending: (() => void) | undefined;

  const message = async (snapshot: Snapshot): Promise<Buffer> => {
    const { bytes } = await definitions.of(snapshot);
    const known = messages.get(bytes);
    if (known) return known;
    const made = encodeDefinition(bytes);
    messages.set(bytes, made);
    return made;
  };

  const sent = (subscriber: Subscriber): void => {
    sending -= subscriber.sending?.length ?? 0;
    subscriber.sending = undefined;
    busy.delete(subscriber);
    if (sending <= maxSending) lessSending?.();
  };

  const put = (subscriber: Subscriber, bytes: Buffer): void => {
    if (subscriber.sending) {
      subscriber.next = bytes;
      return;
    }
    subscriber.sending = { length: bytes.length, since: now() };
    sending += bytes.length;
    busy.add(subscriber);
    subscriber.reader.send(bytes, () => {
      if (subscriber.ended) return;
      sent(subscriber);
      const { next } = subscriber;
      subscriber.next = undefined;
      if (next) put(subscriber, next);
    });
  };

  const send = (subscriber: Subscriber, bytes: Buffer): void => {
    // A change need not change what flagd is told.
    if (subscriber.ended || subscriber.latest === bytes) return;
    subscriber.latest = bytes;
    put(subscriber, bytes);
  };

  const rest = (): Promise<unknown> | undefined => {
    if (sending <= maxSending) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    lessSending = resolve;
    return Promise.race([promise, pause(longestRest, undefined, { ref: false })]);
  };

  const open = (snapshot: Snapshot): Environment => {
    const broadcaster = createBroadcaster<Subscriber>(
      (subscriber, [newest]) => {
        if (newest) send(subscriber, newest);
      },
      { newestOnly: true, rest },
    );
    let took = 0;
    const publish = async (): Promise<void> => {
      const begun = now();
      const made = await message(snapshot);
      took = now() - begun;
      broadcaster.publish(made);
    };
    const tell = createFold(
      // Whoever has made the change does not wait for it.
      () => setImmediate(() => void publish().catch(onFailed)),
      () => Math.max(foldWithin, took / compileShare),
    );
    return { broadcaster, tell };
  };

  const stop = snapshots.onChange((snapshot) => {
    const environment = environments.get(snapshot);
    if (environment && environment.broadcaster.size > 0) environment.tell();
  });

  const timer = setInterval(() => {
    const before = now() - takeWithin;
    for (const { sending: message, reader } of busy) {
      if (message && message.since < before) reader.cut();
    }
  }, takeWithin / 4).unref();

  return {
    message,
    begin(snapshot, reader) {
      const environment = environments.get(snapshot) ?? open(snapshot);
      environments.set(snapshot, environment);
      const subscriber: Subscriber = {
        reader,
        sending: undefined,
        next: undefined,
        latest: undefined,
        ended: false,
        position: 0,
      };
      environment.broadcaster.add(subscriber);
      // Asked for only now: a change before is in it, and one after is told.
      message(snapshot).then((first) => send(subscriber, first), onFailed);
      return () => {
        subscriber.ended = true;
        environment.broadcaster.delete(subscriber);
        sent(subscriber);
      };
    },
    close() {
      stop();
      clearInterval(timer);
    },
  };
};
