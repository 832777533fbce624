// Serves reads with large responses: a few at a time, environments and their keys in turn. Others wait; too many are rejected.
import type { ServerResponse } from "node:http";
import { createRequestShares, type Sharer } from "../request-shares.ts";

/** Places of the process. One environment alone gets two of them. */
const places = 8;
/** Reads that wait for a place, so that each costs no more than its request. */
const maxWaiting = { ofKey: 16, ofEnvironment: 32 } as const;
/** While others wait, a client that reads less than this of its response in one interval is disconnected. */
const leastRead = 262_144;
const defaultInterval = 30_000;

export interface ReadHolder {
  readonly environmentId: number;
  readonly keyId: string;
}

export interface LargeReads {
  /** Calls `begin` once there is a place, which is held until the response ends. False when too many wait. */
  enter(holder: ReadHolder, response: ServerResponse, begin: () => void): boolean;
}

interface Waiting {
  readonly response: ServerResponse;
  readonly begin: () => void;
}

/** The reads of one key. */
interface Reader extends Sharer {
  readonly keyId: string;
  readonly waiting: Waiting[];
}

/** Calls once when a response ends, however it ends. */
const onEnd = (response: ServerResponse, ended: () => void): void => {
  const once = () => {
    response.off("finish", once).off("close", once);
    ended();
  };
  response.once("finish", once).once("close", once);
};

/** Bytes of the connection that its client has taken. */
const readOf = ({ socket }: ServerResponse): number =>
  socket === null ? 0 : socket.bytesWritten - socket.writableLength;

const hasMore = ({ socket }: ServerResponse): boolean =>
  socket !== null && socket.writableLength > 0;

export const createLargeReads = (interval = defaultInterval): LargeReads => {
  const shares = createRequestShares<Reader>(places);
  const readers = new Map<string, Reader>();

  const readerOf = ({ environmentId, keyId }: ReadHolder): Reader => {
    const known = readers.get(keyId);
    if (known) return known;
    const reader: Reader = { environmentId, keyId, running: 0, waiting: [] };
    readers.set(keyId, reader);
    shares.add(reader);
    return reader;
  };

  const forgetIdle = (reader: Reader): void => {
    if (reader.running > 0 || reader.waiting.length > 0) return;
    readers.delete(reader.keyId);
    shares.delete(reader);
  };

  const waitingIn = (environmentId: number): number =>
    readers
      .values()
      .filter((reader) => reader.environmentId === environmentId)
      .reduce((sum, { waiting }) => sum + waiting.length, 0);

  const anyWaits = (): boolean => readers.values().some(({ waiting }) => waiting.length > 0);

  const run = (reader: Reader, { response, begin }: Waiting): void => {
    let before = readOf(response);
    const watch = setInterval(() => {
      const read = readOf(response);
      // With nothing left to send, it waits for the server.
      const isSlow = read - before < leastRead && hasMore(response);
      before = read;
      if (isSlow && anyWaits()) response.socket?.resetAndDestroy();
    }, interval).unref();
    onEnd(response, () => {
      clearInterval(watch);
      shares.ended(reader);
      forgetIdle(reader);
      startNext();
    });
    begin();
  };

  const startNext = (): void => {
    for (;;) {
      const reader = shares.next(
        ({ waiting }) => waiting.length > 0,
        () => false,
      );
      const next = reader?.waiting.shift();
      if (!reader || !next) return;
      run(reader, next);
    }
  };

  return {
    enter(holder, response, begin) {
      // The client has disconnected, and no other event reports it.
      if (response.destroyed) {
        begin();
        return true;
      }
      const reader = readerOf(holder);
      const isFull =
        reader.waiting.length >= maxWaiting.ofKey ||
        waitingIn(holder.environmentId) >= maxWaiting.ofEnvironment;
      if (isFull) return false;
      const waiting: Waiting = { response, begin };
      reader.waiting.push(waiting);
      onEnd(response, () => {
        const index = reader.waiting.indexOf(waiting);
        if (index === -1) return;
        reader.waiting.splice(index, 1);
        forgetIdle(reader);
      });
      startNext();
      return true;
    },
  };
};
