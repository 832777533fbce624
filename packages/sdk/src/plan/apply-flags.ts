// Creates, changes and deletes flags for a plan, each only if it has not changed since it was planned.
import { isSameFlag } from "@halyard/core/difference";
import type { Flag } from "@halyard/core/flags/registry";
import { bytesOf } from "@halyard/core/flags/rules";
import { actorText } from "@halyard/core/history/actor-text";
import type { FlagStep } from "@halyard/core/plan/plan";
import type { Management } from "../management/management.ts";
import type { ManagementError } from "../management/result.ts";
import { type Call, conflict, done, doneAt, isConflict, type Outcome, untried } from "./outcome.ts";

export type FlagUpdate = FlagStep & { readonly kind: "update" };

/** The server accepts up to 100 changes and 256 KiB in one request. */
const maxTogether = 100;
const maxBytes = 200 * 1_024;

export interface Ready {
  readonly change: FlagUpdate;
  readonly version: number;
}

export const groupsOf = (ready: readonly Ready[]): readonly (readonly Ready[])[] => {
  const groups: Ready[][] = [];
  let bytes = 0;
  for (const each of ready) {
    const size = bytesOf(JSON.stringify(each.change.patch)) + each.change.key.length + 50;
    const group = groups.at(-1);
    if (group === undefined || group.length === maxTogether || bytes + size > maxBytes) {
      groups.push([each]);
      bytes = size;
    } else {
      group.push(each);
      bytes += size;
    }
  }
  return groups;
};

/** The change of the group that the server rejected. */
const refusedIn = ({ message }: ManagementError): number | undefined => {
  const [, index] = /^changes\[(\d+)\]/.exec(message) ?? [];
  return index === undefined ? undefined : Number(index);
};

/** Omits the position in the request, which means nothing to the reader of a plan. */
const withoutPlace = (error: ManagementError, key: string): ManagementError => ({
  ...error,
  message: error.message
    .replace(/^changes\[\d+\] \(.*?\): /, "")
    .replace(/^changes\[\d+\]\.patch\./, `The flag "${key}": `)
    .replaceAll(/changes\[\d+\]\.patch\./g, ""),
});

/** The versions of flags that are known to be unchanged since the changes were planned. */
export type Versions = ReadonlyMap<string, number>;

export const flagChanges = ({ flags }: Management, call: Call, versions: Versions = new Map()) => {
  /** Such as ` by ann at 2026-11-15T08:40:21.008Z`; empty if the server does not return it. */
  const byWhom = async (key: string): Promise<string> => {
    const history = await call(() => flags.history(key, { limit: 1 }));
    const last = history.ok ? history.value[0] : undefined;
    return last === undefined ? "" : ` by ${actorText(last.actor)} at ${last.createdAt}`;
  };

  const conflictOf = async (key: string, message: string): Promise<Outcome> =>
    conflict(`${message}${await byWhom(key)}`);

  const failed = async (error: ManagementError, key: string, message: string): Promise<Outcome> =>
    isConflict(error) ? conflictOf(key, message) : { kind: "failed", error };

  /** The version to change, or why not to change it. */
  const findVersion = async (
    before: Flag,
    target: Flag | undefined,
  ): Promise<{ version: number } | Outcome> => {
    const { key } = before;
    const known = versions.get(key);
    if (known !== undefined) return { version: known };
    const now = await call(() => flags.get(key));
    if (!now.ok) {
      if (now.error.code === "NOT_FOUND" && target === undefined) return done;
      return failed(now.error, key, "was deleted meanwhile");
    }
    if (target && isSameFlag(now.value, target)) return done;
    if (!isSameFlag(now.value, before)) return conflictOf(key, "was changed meanwhile");
    return { version: now.version ?? 0 };
  };

  const create = async (flag: Flag): Promise<Outcome> => {
    const { enabled, ...request } = flag;
    const { key } = flag;
    const made = await call(() => flags.create(request));
    if (!made.ok) {
      if (made.error.code !== "CONFLICT") return { kind: "failed", error: made.error };
      const now = await call(() => flags.get(key));
      // There are other conflicts than a duplicate key, such as too many flags.
      if (!now.ok) return { kind: "failed", error: made.error };
      return isSameFlag(now.value, flag)
        ? done
        : conflictOf(key, "was created meanwhile, with other values,");
    }
    const version = made.version ?? 1;
    if (!enabled) return doneAt(version);
    const turned = await call(() => flags.update(key, { enabled }, { ifMatch: version }));
    return turned.ok
      ? doneAt(turned.version ?? version + 1)
      : failed(turned.error, key, "was changed, right after it was created,");
  };

  const remove = async (flag: Flag): Promise<Outcome> => {
    const { key } = flag;
    const found = await findVersion(flag, undefined);
    if ("kind" in found) return found;
    const gone = await call(() => flags.delete(key, { ifMatch: found.version }));
    if (gone.ok) return doneAt(found.version + 1);
    return gone.error.code === "NOT_FOUND"
      ? done
      : failed(gone.error, key, "was changed meanwhile");
  };

  /** All or none: if flags have changed since, the rest is sent again without them. */
  const updateGroup = async (
    group: readonly Ready[],
  ): Promise<ReadonlyMap<FlagUpdate, Outcome>> => {
    const outcomes = new Map<FlagUpdate, Outcome>();
    let left = group;
    while (left.length > 0) {
      const sent = left.map(({ change: { key, patch }, version }) => ({
        flag: key,
        ifMatch: String(version),
        patch,
      }));
      const changed = await call(() => flags.changeTogether(sent));
      if (changed.ok) {
        for (const [index, { change, version }] of left.entries()) {
          outcomes.set(change, doneAt(changed.value.changes[index]?.version ?? version + 1));
        }
        break;
      }
      const { error } = changed;
      const index = refusedIn(error);
      const refused = left[index ?? 0];
      if (refused === undefined) break;
      const { change } = refused;
      const { key } = change;
      // Without a place it is not about one of the flags.
      const outcome: Outcome =
        index === undefined
          ? { kind: "failed", error }
          : await failed(withoutPlace(error, key), key, "was changed meanwhile");
      outcomes.set(change, outcome);
      left = left.filter((each) => each !== refused);
      if (outcome.kind === "conflict") continue;
      for (const each of left) outcomes.set(each.change, untried);
      break;
    }
    return outcomes;
  };

  return { findVersion, create, remove, updateGroup };
};
