// Creates, changes and deletes segments for a plan. Long lists are sent in parts.
import { actorText } from "@halyard/core/history/actor-text";
import type { SegmentStep } from "@halyard/core/plan/plan";
import { isSameSegment } from "@halyard/core/plan/same-segment";
import type { Segment } from "@halyard/core/targeting/segment";
import type { Management } from "../management/management.ts";
import type { ManagementError } from "../management/result.ts";
import { type Call, conflict, done, doneAt, isConflict, type Outcome } from "./outcome.ts";
import { changeMembers, membersBetween, partsOf } from "./segment-members.ts";

export const segmentChanges = (management: Management, call: Call) => {
  const { segments } = management;

  const byWhom = async (key: string): Promise<string> => {
    const query = { subject: "segment", id: key, limit: 1 } as const;
    const history = await call(() => management.history(query));
    const last = history.ok ? history.value[0] : undefined;
    return last === undefined ? "" : ` by ${actorText(last.actor)} at ${last.createdAt}`;
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
    let version = made.version ?? 1;
    for (const part of rest) {
      const moved = await changeMembers(management, key, part, { call });
      if (moved?.ok === false) return failed(moved.error, key);
      version = moved?.version ?? version;
    }
    return doneAt(version);
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
    const version = changed.version ?? match.ifMatch;
    const members = membersBetween(before, after);
    const moved = await changeMembers(management, key, members, { ifMatch: version, call });
    return moved?.ok === false ? failed(moved.error, key) : doneAt(moved?.version ?? version);
  };

  const remove = async (segment: Segment): Promise<Outcome> => {
    const { key } = segment;
    const now = await call(() => segments.get(key));
    if (!now.ok) return now.error.code === "NOT_FOUND" ? done : failed(now.error, key);
    if (!isSameSegment(now.value, segment)) return conflictOf(key, "was changed meanwhile");
    const gone = await call(() => segments.delete(key, { ifMatch: now.version ?? 0 }));
    if (gone.ok) return doneAt((now.version ?? 0) + 1);
    return gone.error.code === "NOT_FOUND" ? done : failed(gone.error, key);
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
