// How often flags are evaluated: takes the counts of others in, and shows them all.
import { isFlagKey } from "@halyard/core/flags/rules";
import type { EnvironmentRef } from "../domain/principal.ts";
import type { UsageHour } from "../domain/usage.ts";
import { notFound, ok, type Result } from "../errors.ts";
import type { Clock, Store } from "../ports.ts";
import type { Snapshots } from "./snapshots.ts";
import { hourLength, hourOf, type Usage } from "./usage.ts";

export interface Evaluations {
  readonly key: string;
  readonly on: number;
  readonly off: number;
}

export interface FlagReport extends Evaluations {
  readonly lastEvaluatedAt: Date | null;
}

export interface HoursReport {
  readonly key: string;
  readonly lastEvaluatedAt: Date | null;
  readonly hours: readonly UsageHour[];
}

export interface UsageReport {
  /** Flags that do not exist are passed over. */
  add(environment: EnvironmentRef, evaluations: readonly Evaluations[]): void;
  /** Of every flag within the last hours, sorted by key. */
  ofAll(environment: EnvironmentRef, hours: number): Promise<readonly FlagReport[]>;
  ofFlag(environment: EnvironmentRef, key: string, hours: number): Promise<Result<HoursReport>>;
}

export const createUsageReport = (
  store: Pick<Store, "usage" | "usageHours">,
  snapshots: Pick<Snapshots, "get">,
  usage: Pick<Usage, "flush">,
  clock: Clock,
): UsageReport => {
  /** The current hour counts as the first. */
  const begin = (hours: number): Date =>
    new Date(hourOf(clock()).getTime() - (hours - 1) * hourLength);

  return {
    add({ id: environmentId }, evaluations) {
      const snapshot = snapshots.get(environmentId);
      for (const { key, on, off } of evaluations) {
        const counter = snapshot?.get(key)?.counter;
        if (!counter) continue;
        counter.on += on;
        counter.off += off;
      }
    },

    async ofAll({ id: environmentId }, hours) {
      await usage.flush();
      const flags = await store.usage(environmentId, begin(hours));
      return flags.map(({ flagKey, on, off, lastAt }) => ({
        key: flagKey,
        on,
        off,
        lastEvaluatedAt: lastAt,
      }));
    },

    async ofFlag({ id: environmentId }, key, hours) {
      if (!isFlagKey(key)) return notFound("The flag", key);
      await usage.flush();
      const since = begin(hours);
      const [flag] = await store.usage(environmentId, since, key);
      if (!flag) return notFound("The flag", key);
      return ok({
        key,
        lastEvaluatedAt: flag.lastAt,
        hours: await store.usageHours(environmentId, key, since),
      });
    },
  };
};
