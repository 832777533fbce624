// Counts what was refused because there was too much of it, and says so once when it begins and once when it is over.

export const shedKinds = ["management", "evaluation", "connection", "store"] as const;
/** A request that changes or shows, one that evaluates, one of a connection too many, one that would wait for the store. */
export type ShedKind = (typeof shedKinds)[number];
export type ShedCounts = Readonly<Record<ShedKind, number>>;

/** So many milliseconds without a refusal, and it is over. */
const calmAfter = 5_000;

export interface ShedLog {
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

export interface ShedCounter {
  /** Since the start. */
  readonly counts: () => ShedCounts;
  readonly isRefusing: () => boolean;
  readonly count: (kind: ShedKind) => void;
  /** Asked again and again: whether it is over. */
  readonly look: (late: number) => void;
}

interface Episode {
  readonly since: number;
  readonly before: ShedCounts;
  lastAt: number;
  longestLag: number;
}

export const createShedCounter = (now: () => number, log: ShedLog): ShedCounter => {
  const counts: Record<ShedKind, number> = {
    management: 0,
    evaluation: 0,
    connection: 0,
    store: 0,
  };
  let episode: Episode | undefined;
  let late = 0;

  return {
    counts: () => counts,
    isRefusing: () => episode !== undefined,
    count(kind) {
      const at = now();
      if (!episode) {
        episode = { since: at, before: { ...counts }, lastAt: at, longestLag: late };
        log.warn({ first: kind, lag: Math.round(late) }, "overloaded: requests are refused");
      }
      episode.lastAt = at;
      counts[kind] += 1;
    },
    look(lateNow) {
      late = Math.max(0, lateNow);
      if (!episode) return;
      const { since, before, lastAt } = episode;
      episode.longestLag = Math.max(episode.longestLag, late);
      if (now() - lastAt < calmAfter) return;
      const refused = Object.fromEntries(
        shedKinds.map((kind) => [kind, counts[kind] - before[kind]]),
      );
      log.info(
        {
          refused,
          seconds: Math.round((lastAt - since) / 1_000),
          longestLag: Math.round(episode.longestLag),
        },
        "requests are no longer refused",
      );
      episode = undefined;
    },
  };
};
