// Chooses the next request: environments take turns, then sharers in each, such as its webhooks or keys. None gets all places.

export interface Sharer {
  readonly environmentId: number;
  /** Its requests that run now. */
  running: number;
}

/**
 * An environment may take another request while it has less than this part of those that are free. So there is always room
 * for one that has none, however slow the requests of the others are. Alone, an environment gets a quarter of all.
 */
const shareOfFree = 1 / 3;
/** A sharer's second request needs this much room in its environment, its third twice as much, and so on. */
const roomForMore = 2;

interface EnvironmentShare<State> {
  readonly id: number;
  readonly sharers: State[];
  running: number;
  nextIndex: number;
}

export interface RequestShares<State extends Sharer> {
  add(state: State): void;
  delete(state: State): void;
  /** How many requests this sharer may have now, of the `limit` that it may have at most. */
  allowed(state: State, limit: number): number;
  /** The sharer that is next among those that `mayStart`, and counts its request. */
  next(
    mayStart: (state: State) => boolean,
    isFailing: (state: State) => boolean,
  ): State | undefined;
  ended(state: State): void;
  readonly running: () => number;
  /** The position of each sharer in a list that takes one of each environment in turn. */
  inTurn(ids: Iterable<string>, stateOf: (id: string) => State | undefined): string[];
}

/** `maxRunning` requests run at once. */
export const createRequestShares = <State extends Sharer>(
  maxRunning: number,
): RequestShares<State> => {
  const environments = new Map<number, EnvironmentShare<State>>();
  let running = 0;
  let turn = 0;

  /** How many more requests the environment may start. */
  const roomOf = (share: EnvironmentShare<State>): number => {
    if (running >= maxRunning) return 0;
    return Math.max(
      share.running === 0 ? 1 : 0,
      Math.floor((maxRunning - running) * shareOfFree) - share.running,
    );
  };

  const pick = (
    share: EnvironmentShare<State>,
    mayStart: (state: State) => boolean,
    isFailing: (state: State) => boolean,
  ): State | undefined => {
    const { sharers } = share;
    const room = roomOf(share);
    if (room === 0 || !sharers.some(mayStart)) return undefined;
    const failing = sharers.reduce((sum, each) => sum + (isFailing(each) ? each.running : 0), 0);
    // However many are down, the others have room.
    const isFailingFull = failing >= (share.running + room) / 2;
    for (let step = 0; step < sharers.length; step += 1) {
      const index = (share.nextIndex + step) % sharers.length;
      const state = sharers[index];
      if (!state || !mayStart(state) || (isFailingFull && isFailing(state))) continue;
      share.nextIndex = index + 1;
      return state;
    }
    return undefined;
  };

  return {
    add(state) {
      const id = state.environmentId;
      const share = environments.get(id) ?? { id, sharers: [], running: 0, nextIndex: 0 };
      share.sharers.push(state);
      environments.set(id, share);
    },

    delete(state) {
      const share = environments.get(state.environmentId);
      if (!share) return;
      share.sharers.splice(share.sharers.indexOf(state), 1);
      if (share.sharers.length === 0) environments.delete(share.id);
    },

    allowed(state, limit) {
      const share = environments.get(state.environmentId);
      const room = share ? roomOf(share) : 0;
      return room === 0 ? state.running : Math.min(limit, 1 + Math.floor((room - 1) / roomForMore));
    },

    next(mayStart, isFailing) {
      const shares = [...environments.values()];
      for (let step = 0; step < shares.length; step += 1) {
        const share = shares[(turn + step) % shares.length];
        const state = share && pick(share, mayStart, isFailing);
        if (!share || !state) continue;
        turn = (turn + step + 1) % shares.length;
        share.running += 1;
        running += 1;
        state.running += 1;
        return state;
      }
      return undefined;
    },

    ended(state) {
      const share = environments.get(state.environmentId);
      if (share) share.running -= 1;
      running -= 1;
      state.running -= 1;
    },

    running: () => running,

    inTurn(ids, stateOf) {
      const places = new Map<number | undefined, number>();
      const placed = [...ids].map((id) => {
        const environmentId = stateOf(id)?.environmentId;
        const place = places.get(environmentId) ?? 0;
        places.set(environmentId, place + 1);
        return { id, place };
      });
      return placed.sort((a, b) => a.place - b.place).map(({ id }) => id);
    },
  };
};
