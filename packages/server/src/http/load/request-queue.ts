// Requests that wait for their turn, so that what they ask for does not keep shorter ones waiting.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Handle } from "../fast-path/fast-path.ts";

/** Milliseconds of work for those who wait, in each turn of the event loop. */
const slice = 5;

export interface WaitingRoom {
  readonly waiting: () => number;
  /** Served in the order in which they came. */
  add(request: IncomingMessage, response: ServerResponse): void;
}

export interface WaitingRoomDependencies {
  readonly now: () => number;
  /** Milliseconds after which an answer would come too late to be of use. */
  readonly patience: number;
  readonly serve: Handle;
  /** For those whose turn comes too late. */
  readonly refuse: Handle;
}

interface Waiting {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly since: number;
}

export const createWaitingRoom = ({
  now,
  patience,
  serve,
  refuse,
}: WaitingRoomDependencies): WaitingRoom => {
  let room: Waiting[] = [];
  let served = 0;
  let isPlanned = false;

  const next = (): Waiting | undefined => {
    const first = room[served];
    served += 1;
    // Taking the first of a long list from it would move all others.
    if (served > 64 && served * 2 > room.length) {
      room = room.slice(served);
      served = 0;
    }
    return first;
  };

  const serveSome = async (): Promise<void> => {
    const begun = now();
    do {
      const first = next();
      if (!first || first.response.destroyed) continue;
      const at = now();
      (at - first.since > patience ? refuse : serve)(first.request, first.response, at);
      // What it asked for is done in the ticks that follow, and counts.
      for (let tick = 0; tick < 4; tick += 1) {
        await new Promise<void>((resolve) => process.nextTick(resolve));
      }
    } while (served < room.length && now() - begun < slice);
    isPlanned = false;
    plan();
  };
  const plan = (): void => {
    if (isPlanned || served >= room.length) return;
    isPlanned = true;
    setImmediate(() => void serveSome());
  };

  return {
    waiting: () => room.length - served,
    add(request, response) {
      room.push({ request, response, since: now() });
      plan();
    },
  };
};
