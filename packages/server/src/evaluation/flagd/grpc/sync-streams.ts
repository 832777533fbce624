// Calls that get definitions: SyncFlags gets every new one, and who is slow the newest only. What a key's calls do not read is limited.
import { setTimeout as pause } from "node:timers/promises";
import { type Failure, ok, type Result } from "../../../platform/errors.ts";
import type { Snapshot } from "../../snapshot.ts";
import type { Snapshots } from "../../snapshots.ts";
import { type Broadcaster, createBroadcaster, type Positioned } from "../../streams/broadcaster.ts";
import { createThrottle } from "../../streams/fold.ts";
import type { FlagdDefinitions } from "../definitions.ts";
import { encodeDefinition } from "./messages.ts";

/** A call to whom definitions are sent. */
export interface SyncReader {
  /** Calls back once the message has left; never when the call has ended before. */
  send(message: Buffer, sent: () => void): void;
  /** Ends a call for which there is no definition. */
  refuse(failure: Failure): void;
  /** Ends a call that does not read, with its connection. */
  cut(): void;
}

export interface AskedFor {
  readonly keyId: string;
  readonly snapshot: Snapshot;
  readonly follows: boolean;
}

export interface SyncStreams {
  /** A message with the definition of this revision, made once for all clients. */
  message(snapshot: Snapshot): Promise<Result<Buffer>>;
  /** Sends the definition now, and to followers whenever it changes; what it returns is to be called when the call has ended. */
  begin(asked: AskedFor, reader: SyncReader): () => void;
  close(): void;
}

/** The calls of one key. */
interface Share {
  calls: number;
  /** Bytes on their way. */
  sending: number;
}

interface Subscriber extends Positioned {
  readonly reader: SyncReader;
  readonly environment: Environment;
  readonly share: Share;
  /** What is on its way to the reader. */
  sending: { readonly length: number; readonly since: number } | undefined;
  /** What is to be sent after it: the newest. */
  next: Buffer | undefined;
  /** The last message that was sent, or the next one. Held weakly because the buffer can be large. */
  latest: WeakRef<Buffer> | undefined;
  ended: boolean;
}

interface Environment {
  readonly broadcaster: Broadcaster<Subscriber>;
  readonly tell: () => void;
  readonly followers: Set<Subscriber>;
  /** Bytes on their way. */
  sending: number;
  lessSending: (() => void) | undefined;
}

/** Milliseconds within which changes are told as one, at least. */
const throttleWithin = 100;
/** Compiling takes at most this part of the time, however fast the changes come. */
const compileShare = 0.2;
/** Bytes that may be on their way in an environment before the next reader is written to: the library copies a message for each. */
const maxSending = 64 * 1_024 * 1_024;
/** Of them, those of one key: calls that nobody reads fill neither the memory nor the others' share. One message always goes. */
const maxSendingPerKey = maxSending / 2;
/** Of all environments together. */
const maxSendingInAll = 2 * maxSending;
/** Milliseconds that readers are waited for when so much is on its way. */
const longestRest = 250;
/** Milliseconds in which a client must read a message: normally, and while other calls wait for memory. */
const takeWithin = 60_000;
const takeWithinOthers = takeWithin / 4;

export const createSyncStreams = (
  snapshots: Pick<Snapshots, "onChange">,
  definitions: Pick<FlagdDefinitions, "of">,
  now: () => number,
  onFailed: (error: unknown) => void,
): SyncStreams => {
  const environments = new WeakMap<Snapshot, Environment>();
  /** By the bytes of the definition. */
  const messages = new WeakMap<Buffer, Buffer>();
  const busy = new Set<Subscriber>();
  const shares = new Map<string, Share>();
  /** Whose `next` has to wait until others have read, in their order. */
  const waiting = new Set<Subscriber>();
  let sendingInAll = 0;

  const message = async (snapshot: Snapshot): Promise<Result<Buffer>> => {
    const definition = await definitions.of(snapshot);
    if (!definition.ok) return definition;
    const { bytes } = definition.value;
    const known = messages.get(bytes);
    if (known) return ok(known);
    const made = encodeDefinition(bytes);
    messages.set(bytes, made);
    return ok(made);
  };

  /** A definition is never larger than any of these. */
  const hasRoom = ({ share, environment }: Subscriber, { length }: Buffer): boolean =>
    share.sending + length <= maxSendingPerKey &&
    environment.sending + length <= maxSending &&
    sendingInAll + length <= maxSendingInAll;

  const sent = ({ sending, environment, share }: Subscriber): void => {
    const length = sending?.length ?? 0;
    share.sending -= length;
    sendingInAll -= length;
    environment.sending -= length;
    if (environment.sending <= maxSending) environment.lessSending?.();
  };

  const put = (subscriber: Subscriber, bytes: Buffer): void => {
    const { share, environment, reader } = subscriber;
    const { length } = bytes;
    if (subscriber.sending || !hasRoom(subscriber, bytes)) {
      subscriber.next = bytes;
      if (!subscriber.sending) waiting.add(subscriber);
      return;
    }
    // Something older may have waited for room.
    subscriber.next = undefined;
    waiting.delete(subscriber);
    subscriber.sending = { length, since: now() };
    share.sending += length;
    sendingInAll += length;
    environment.sending += length;
    busy.add(subscriber);
    reader.send(bytes, () => {
      if (!subscriber.ended) release(subscriber);
    });
  };

  /** The message was sent or dropped: frees its memory for waiting calls. */
  const release = (subscriber: Subscriber): void => {
    sent(subscriber);
    subscriber.sending = undefined;
    busy.delete(subscriber);
    if (subscriber.next && !subscriber.ended) waiting.add(subscriber);
    for (const each of waiting) {
      const { next } = each;
      if (next && !hasRoom(each, next)) continue;
      waiting.delete(each);
      if (next) put(each, next);
    }
  };

  const send = (subscriber: Subscriber, bytes: Buffer): void => {
    // A change need not change the definition.
    if (subscriber.ended || subscriber.latest?.deref() === bytes) return;
    subscriber.latest = new WeakRef(bytes);
    put(subscriber, bytes);
  };

  const rest = (environment: Environment): Promise<unknown> | undefined => {
    if (environment.sending <= maxSending) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    environment.lessSending = resolve;
    return Promise.race([promise, pause(longestRest, undefined, { ref: false })]);
  };

  const open = (snapshot: Snapshot): Environment => {
    const broadcaster = createBroadcaster<Subscriber>(
      (subscriber, [newest]) => {
        if (newest) send(subscriber, newest);
      },
      { newestOnly: true, rest: () => rest(environment) },
    );
    let took = 0;
    const publish = async (): Promise<void> => {
      const begun = now();
      const made = await message(snapshot);
      took = now() - begun;
      if (made.ok) {
        broadcaster.publish(made.value);
        return;
      }
      for (const subscriber of environment.followers) subscriber.reader.refuse(made.failure);
    };
    const tell = createThrottle(
      // Whoever has made the change does not wait for it.
      () => setImmediate(() => void publish().catch(onFailed)),
      () => Math.max(throttleWithin, took / compileShare),
    );
    const environment: Environment = {
      ...{ broadcaster, tell, followers: new Set(), sending: 0, lessSending: undefined },
    };
    return environment;
  };

  const stop = snapshots.onChange((snapshot) => {
    const environment = environments.get(snapshot);
    if (environment && environment.broadcaster.size > 0) environment.tell();
  });

  const timer = setInterval(() => {
    const before = now() - (waiting.size > 0 ? takeWithinOthers : takeWithin);
    for (const { sending: message, reader } of busy) {
      if (message && message.since < before) reader.cut();
    }
  }, takeWithin / 4).unref();

  return {
    message,
    begin({ keyId, snapshot, follows }, reader) {
      const environment = environments.get(snapshot) ?? open(snapshot);
      environments.set(snapshot, environment);
      const share = shares.get(keyId) ?? { calls: 0, sending: 0 };
      shares.set(keyId, share);
      share.calls += 1;
      const subscriber: Subscriber = {
        reader,
        environment,
        share,
        sending: undefined,
        next: undefined,
        latest: undefined,
        ended: false,
        position: 0,
      };
      if (follows) {
        environment.broadcaster.add(subscriber);
        environment.followers.add(subscriber);
      }
      // Asked for only now: a change before is in it, and one after is told.
      message(snapshot).then((first) => {
        if (first.ok) send(subscriber, first.value);
        else if (!subscriber.ended) reader.refuse(first.failure);
      }, onFailed);
      return () => {
        subscriber.ended = true;
        environment.broadcaster.delete(subscriber);
        environment.followers.delete(subscriber);
        waiting.delete(subscriber);
        share.calls -= 1;
        if (share.calls === 0) shares.delete(keyId);
        release(subscriber);
      };
    },
    close() {
      stop();
      clearInterval(timer);
    },
  };
};
