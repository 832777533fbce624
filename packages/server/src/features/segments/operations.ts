// Operations on segments: what they read under the lock, and what they decide.
import type { MembersRequest } from "@halyard/core/targeting/check-segment";
import { memberLists, type Segment } from "@halyard/core/targeting/segment";
import type { Transaction } from "../../platform/database/store.ts";
import { notFound, ok, type Result } from "../../platform/errors.ts";
import { checkPrecondition, type Precondition } from "../../platform/precondition.ts";
import type { EnvironmentState, SegmentDecision, VersionedSegment } from "../../writes/change.ts";
import type { Decide, OperationOf } from "../../writes/operation.ts";
import {
  checkCreateSegment,
  checkMembers,
  checkPatchSegment,
  decideCreateSegment,
  decideDeleteSegment,
  decideUpdateSegment,
  type ListChanges,
  type PatchSegment,
} from "./rules.ts";

const check = (operation: OperationOf<"segment">): Result<void> => {
  switch (operation.action) {
    case "create":
      return checkCreateSegment(operation.body);
    case "patch":
      return checkPatchSegment(operation.body);
    case "members":
      return checkMembers(operation.body);
    case "delete":
      return ok(undefined);
  }
};

export const prepareSegment = async (
  transaction: Transaction,
  environmentId: number,
  operation: OperationOf<"segment">,
): Promise<Decide> => {
  const valid = check(operation);
  if (!valid.ok) return async () => valid;
  const { key, action } = operation;
  const [current, lastVersion, references] = await Promise.all([
    transaction.segment(environmentId, key),
    action === "create" ? transaction.lastVersion(environmentId, "segment", key) : 0,
    action === "create" ? [] : transaction.referencesTo(environmentId, "segment", key),
  ]);
  const flags = references.map(({ flag }) => flag);

  const change = async (
    current: VersionedSegment,
  ): Promise<Result<SegmentDecision | undefined>> => {
    switch (operation.action) {
      case "patch": {
        const { body } = operation;
        const isReplaced = body.include !== undefined || body.exclude !== undefined;
        const whole = isReplaced ? await transaction.wholeSegment(environmentId, key) : undefined;
        return decideUpdateSegment(current, body, replacements(body, whole?.segment), flags);
      }
      case "members": {
        const changes = await exactChanges(transaction, environmentId, key, operation.body);
        return decideUpdateSegment(current, {}, changes, flags);
      }
      default: {
        const whole = await transaction.wholeSegment(environmentId, key);
        return whole
          ? decideDeleteSegment(current.version, whole.segment, flags)
          : notFound("The segment", key);
      }
    }
  };

  const decide = async (
    state: EnvironmentState,
    precondition: Precondition,
  ): Promise<Result<SegmentDecision | undefined>> => {
    if (operation.action === "create") {
      return decideCreateSegment(state, current, lastVersion, operation.body);
    }
    if (!current) return notFound("The segment", key);
    const { version, segment } = current;
    const holds = checkPrecondition(`The segment "${key}"`, version, segment, precondition);
    return holds.ok ? change(current) : holds;
  };

  return async (state, precondition) => {
    const decided = await decide(state, precondition);
    if (!decided.ok) return decided;
    const decision = decided.value;
    const value = decision ? versioned(decision) : current;
    return ok({ decision, version: current?.version ?? null, value });
  };
};

/** From the members that are there to those of the request. */
const replacements = (patch: PatchSegment, before: Segment | undefined): ListChanges =>
  Object.fromEntries(
    memberLists.flatMap((list) => {
      const wanted = patch[list];
      if (wanted === undefined) return [];
      const [old, after] = [new Set(before?.[list] ?? []), new Set(wanted)];
      const added = [...after].filter((each) => !old.has(each));
      const removed = [...old].filter((each) => !after.has(each));
      return [[list, { added, removed }]];
    }),
  );

/** Without what is so already. What is both added and removed is added. */
const exactChanges = async (
  transaction: Transaction,
  environmentId: number,
  key: string,
  request: MembersRequest,
): Promise<ListChanges> => {
  const changes: Record<string, { added: string[]; removed: string[] }> = {};
  for (const list of memberLists) {
    const add = new Set(request[list]?.add ?? []);
    const remove = new Set(request[list]?.remove ?? []).difference(add);
    if (add.size + remove.size === 0) continue;
    const known = new Set(
      await transaction.membersAmong(environmentId, key, list, [...add, ...remove]),
    );
    changes[list] = {
      added: [...add.difference(known)],
      removed: [...remove.intersection(known)],
    };
  }
  return changes;
};

const versioned = ({ after, version, key }: SegmentDecision): VersionedSegment | null => {
  if (!after) return null;
  const { description, when, counts } = after;
  return { segment: { key, description, when, counts }, version };
};
