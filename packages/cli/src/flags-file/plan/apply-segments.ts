// Creates, changes and deletes segments for a plan. Long lists travel in parts.
import { memberLists, type Segment } from "@halyard/core/targeting/segment";
import type { Management, ManagementError } from "@halyard/sdk";
import {
  changeMembers,
  type MembersChange,
  partsOf,
} from "../../server-connection/segment-members.ts";
import { type Call, conflict, done, isConflict, type Outcome } from "./outcome.ts";
import { isSameSegment, type SegmentStep } from "./plan.ts";

/** What to add to the lists of one segment, and what to remove, so that they are those of the other. */
export const membersBetween = (before: Segment, after: Segment): MembersChange => {
  const changes = memberLists.map((list) => {
    const [old, now] = [new Set(before[list]), new Set(after[list])];
    const add = after[list].filter((member) => !old.has(member));
    const remove = before[list].filter((member) => !now.has(member));
    return [list, { add, remove }] as const;
  });
  return Object.fromEntries(changes);
};

/** More changes of segments than these are not looked through for who made the last. */
const historyLimit = 200;

export const segmentChanges = (management: Management, call: Call) => {
  const { segments } = management;

  const byWhom = async (key: string): Promise<string> => {
    const query = { subject: "segment", limit: historyLimit } as const;
    const history = await call(() => management.history(query));
    const last = history.ok ? history.value.find(({ id }) => id === key) : undefined;
    return last === undefined ? "" : ` by ${last.actor.name} at ${last.createdAt}`;
  };

  const conflictOf = async (key: string, message: string): Promise<Outcome> =>
    conflict(`${message}${await byWhom(key)}`);

  const failed = async (error: ManagementError, key: string): Promise<Outcome> =>
    isConflict(error) ? conflictOf(key, "was changed meanwhile") : { kind: "failed", error };

  const create = async (segment: Segment): Promise<Outcome> => {
    const { key, description, when, include, exclude } = segment;
    const [first = {}, ...rest] = partsOf({ include: { add: include }, exclude: { add: exclude } });
    const made = await call(() =>
      segments.create({
        key,
        description,
        when,
        include: first.include?.add ?? [],
        exclude: first.exclude?.add ?? [],
      }),
    );
    if (!made.ok) {
      if (made.error.code !== "CONFLICT") return { kind: "failed", error: made.error };
      const now = await call(() => segments.get(key));
      if (!now.ok) return { kind: "failed", error: made.error };
      return isSameSegment(now.value, segment)
        ? done
        : conflictOf(key, "was created meanwhile, with other values,");
    }
    for (const part of rest) {
      const moved = await changeMembers(management, key, part, { call });
      if (moved?.ok === false) return failed(moved.error, key);
    }
    return done;
  };

  const update = async (before: Segment, after: Segment): Promise<Outcome> => {
    const { key, description, when } = after;
    const now = await call(() => segments.get(key));
    if (!now.ok) return failed(now.error, key);
    if (isSameSegment(now.value, after)) return done;
    if (!isSameSegment(now.value, before)) return conflictOf(key, "was changed meanwhile");
    const match = { ifMatch: now.version ?? 0 };
    const changed = await call(() => segments.update(key, { description, when }, match));
    if (!changed.ok) return failed(changed.error, key);
    const moved = await changeMembers(management, key, membersBetween(before, after), {
      ifMatch: changed.version ?? match.ifMatch,
      call,
    });
    return moved?.ok === false ? failed(moved.error, key) : done;
  };

  const remove = async (segment: Segment): Promise<Outcome> => {
    const { key } = segment;
    const now = await call(() => segments.get(key));
    if (!now.ok) return now.error.code === "NOT_FOUND" ? done : failed(now.error, key);
    if (!isSameSegment(now.value, segment)) return conflictOf(key, "was changed meanwhile");
    const gone = await call(() => segments.delete(key, { ifMatch: now.version ?? 0 }));
    if (gone.ok || gone.error.code === "NOT_FOUND") return done;
    return failed(gone.error, key);
  };

  return (step: SegmentStep): Promise<Outcome> => {
    switch (step.kind) {
      case "create":
        return create(step.segment);
      case "update":
        return update(step.before, step.after);
      case "delete":
        return remove(step.segment);
    }
  };
};
