// How often flags are evaluated: takes the counts of others in, and shows them all.
import { onOrOff } from "@halyard/core/flags/on-or-off";
import { choiceOf } from "@halyard/core/flags/registry";
import { isFlagKey } from "@halyard/core/flags/rules";
import type { Counts, ResultCounts } from "@halyard/core/result-counts";
import type { EvaluationFlag } from "../../evaluation/snapshot.ts";
import type { Snapshots } from "../../evaluation/snapshots.ts";
import { addTo, hourLength, hourOf, type Usage } from "../../evaluation/usage/counters.ts";
import {
  allFlags,
  type CountedFlag,
  isStale,
  type LastChange,
  type UsageHour,
} from "../../evaluation/usage/counts.ts";
import type { EnvironmentRef } from "../../platform/auth/principal.ts";
import type { Db } from "../../platform/database/db.ts";
import type { Clock } from "../../platform/database/store.ts";
import { notFound, ok, type Result } from "../../platform/errors.ts";
import { listUsage, listUsageHours } from "./queries.ts";

export interface Evaluations extends ResultCounts {
  readonly key: string;
  readonly on: number;
  readonly off: number;
}

interface LastTimes {
  readonly lastEvaluatedAt: Date | null;
  /** The last bulk evaluation since the flag exists. */
  readonly lastAskedTogetherAt: Date | null;
  readonly lastChange: LastChange | null;
}

export interface FlagReport extends Evaluations, LastTimes {
  readonly stale: boolean;
}

export interface ReportedHour extends ResultCounts {
  readonly hour: Date;
  readonly on: number;
  readonly off: number;
  /** Bulk evaluations, from the first full hour of the flag. */
  readonly together: number;
}

export interface HoursReport extends LastTimes {
  readonly key: string;
  readonly hours: readonly ReportedHour[];
}

export interface UsageReport {
  /** Flags, variants and rules that do not exist are passed over. */
  add(environment: EnvironmentRef, evaluations: readonly Evaluations[]): void;
  /** Of every flag within the last hours, sorted by key. */
  ofAll(environment: EnvironmentRef, hours: number): Promise<readonly FlagReport[]>;
  ofFlag(environment: EnvironmentRef, key: string, hours: number): Promise<Result<HoursReport>>;
}

export const createUsageReport = (
  db: Db,
  snapshots: Pick<Snapshots, "get">,
  usage: Pick<Usage, "flush">,
  clock: Clock,
): UsageReport => {
  /** The current hour counts as the first. */
  const begin = (hours: number): Date =>
    new Date(hourOf(clock()).getTime() - (hours - 1) * hourLength);

  const lastTimes = (flag: CountedFlag, bulk: readonly UsageHour[]): LastTimes => {
    const { lastAt, createdAt, lastChange } = flag;
    const asked = bulk.at(-1)?.lastAt ?? null;
    const wasThere = asked !== null && (createdAt === null || asked >= createdAt);
    return { lastEvaluatedAt: lastAt, lastAskedTogetherAt: wasThere ? asked : null, lastChange };
  };

  return {
    add({ id: environmentId }, evaluations) {
      const snapshot = snapshots.get(environmentId);
      for (const reported of evaluations) {
        const entry = snapshot?.get(reported.key);
        const { on, off } = reported;
        if (entry && on + off > 0) {
          addTo(entry.counter, { on, off, ...knownResults(entry, reported) });
        }
      }
    },

    async ofAll({ id: environmentId }, hours) {
      await usage.flush();
      const flags = await listUsage(db, environmentId, begin(hours));
      const bulk = await listUsageHours(db, environmentId, allFlags, new Date(0));
      const now = clock();
      return flags.map((flag) => {
        const { flagKey, on, off } = flag;
        const times = lastTimes(flag, bulk);
        const { lastEvaluatedAt, lastAskedTogetherAt, lastChange } = times;
        const last = [lastEvaluatedAt, lastAskedTogetherAt, lastChange?.at ?? null];
        const stale = isStale(last, now);
        return { key: flagKey, on, off, ...times, stale, ...resultsOf(flag) };
      });
    },

    async ofFlag({ id: environmentId }, key, hours) {
      if (!isFlagKey(key)) return notFound("The flag", key);
      await usage.flush();
      const since = begin(hours);
      const [flag] = await listUsage(db, environmentId, since, key);
      if (!flag) return notFound("The flag", key);
      const bulk = await listUsageHours(db, environmentId, allFlags, new Date(0));
      // The hour in which the flag was created also counts requests from before it.
      const created = flag.createdAt ?? new Date(0);
      const own = await listUsageHours(db, environmentId, key, since);
      return ok({
        key,
        ...lastTimes(flag, bulk),
        hours: mergeHours(
          own,
          bulk.filter(({ hour }) => hour >= since && hour >= created),
        ),
      });
    },
  };
};

/** Without members that are not there. */
const resultsOf = ({
  variants,
  rules,
}: Partial<Record<keyof ResultCounts, Counts | undefined>>) => ({
  ...(variants && { variants }),
  ...(rules && { rules }),
});

/** Anyone with a client key can report: what they make up must not fill the store. */
const knownResults = ({ flag, results }: EvaluationFlag, reported: Evaluations): ResultCounts => {
  if (results === undefined) return {};
  const known = choiceOf(flag).variants;
  const { on, off } = reported;
  const given = reported.variants ?? (known === onOrOff.variants ? { on, off } : {});
  const variants = select(given, (name) => Object.hasOwn(known, name));
  const rules = select(reported.rules, (id) => flag.rules?.some((rule) => rule.id === id) === true);
  return resultsOf({ variants, rules });
};

const select = (
  counts: Counts | undefined,
  isKnown: (name: string) => boolean,
): Counts | undefined => {
  const entries = Object.entries(counts ?? {}).filter(
    ([name, count]) => count > 0 && isKnown(name),
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
};

/** Oldest first. */
const mergeHours = (own: readonly UsageHour[], bulk: readonly UsageHour[]): ReportedHour[] => {
  const hours = new Map<number, ReportedHour>(
    own.map((each) => {
      const { hour, on, off } = each;
      return [hour.getTime(), { hour, on, off, together: 0, ...resultsOf(each) }];
    }),
  );
  for (const { hour, on: together } of bulk) {
    const known = hours.get(hour.getTime()) ?? { hour, on: 0, off: 0 };
    hours.set(hour.getTime(), { ...known, together });
  }
  return [...hours.values()].sort((one, other) => one.hour.getTime() - other.hour.getTime());
};
