// How long a webhook has been failing: the time between its failures, so that a jump of the clock counts as at most a day.

const hour = 60 * 60 * 1_000;
const day = 24 * hour;

export interface Failing {
  /** The first failure since the last success. */
  readonly since: number;
  /** The failure up to which `lasted` counts. */
  readonly countedAt: number;
  /** Milliseconds between failures, see `failedFor`. */
  readonly lasted: number;
}

/** More than a day between two failures counts as a day: it may be the clock that jumped. */
const passed = ({ countedAt }: Failing, now: number): number =>
  Math.min(Math.max(now - countedAt, 0), day);

/** The same object until there is something to store, which is once an hour. */
export const afterFailureAt = (failing: Failing | null, now: number): Failing => {
  if (failing === null) return { since: now, countedAt: now, lasted: 0 };
  // The clock was set back: time counts from here.
  if (now < failing.countedAt) {
    return { ...failing, since: Math.min(failing.since, now), countedAt: now };
  }
  const milliseconds = passed(failing, now);
  if (milliseconds < hour) return failing;
  return { ...failing, countedAt: now, lasted: failing.lasted + milliseconds };
};

/** Milliseconds of failures without a success, at the time of another failure. */
export const failedFor = (failing: Failing, now: number): number =>
  failing.lasted + passed(failing, now);

/** A webhook that fails for this long without a success is deactivated. */
export const longestFailure = 5 * day;
