// Proposes a plan in a protected environment, in as few change requests as possible.

import { bytesOf } from "@halyard/core/flags/rules";
import type { Change } from "@halyard/core/plan/plan";
import { stagesOf } from "@halyard/core/plan/stages";
import type {
  ChangePreview,
  ChangeRequest,
  NewOperation,
} from "../management/changes/change-requests.ts";
import type { Management } from "../management/management.ts";
import type { Result } from "../management/result.ts";
import { previewParts } from "./preview-parts.ts";
import { membersBetween } from "./segment-members.ts";

/** The server accepts up to 100 operations and 256 KiB in one request. */
const maxOperations = 100;
const maxBytes = 240 * 1_024;
/** Milliseconds: many flags and contexts take a while. */
const previewTimeout = 60_000;

/** The operations of one change of a plan. */
export const operationsOf = (change: Change): readonly NewOperation[] => {
  const { key } = change;
  if (change.of === "segment") {
    const of = { kind: "segment", key } as const;
    switch (change.kind) {
      case "create": {
        const { key: _key, ...body } = change.segment;
        return [{ ...of, action: "create", body }];
      }
      case "update": {
        const { description, when } = change.after;
        const members = membersBetween(change.before, change.after);
        return [
          { ...of, action: "patch", body: { description, when } },
          { ...of, action: "members", body: members },
        ];
      }
      case "delete":
        return [{ ...of, action: "delete" }];
    }
  }
  const of = { kind: "flag", key } as const;
  switch (change.kind) {
    case "create": {
      const { enabled, key: _key, ...body } = change.flag;
      const create = { ...of, action: "create", body } as const;
      return enabled ? [create, { ...of, action: "patch", body: { enabled } }] : [create];
    }
    case "update":
      return [{ ...of, action: "patch", body: change.patch }];
    case "delete":
      return [{ ...of, action: "delete" }];
    case "retype":
      return [];
  }
};

/** The operations on one thing stay together. */
const groupsOf = (changes: readonly Change[]): readonly (readonly NewOperation[])[] => {
  const groups: NewOperation[][] = [];
  let bytes = 0;
  for (const change of changes) {
    const operations = operationsOf(change);
    const size = bytesOf(JSON.stringify(operations));
    const group = groups.at(-1);
    const isFull =
      group === undefined ||
      group.length + operations.length > maxOperations ||
      bytes + size > maxBytes;
    if (isFull) {
      groups.push([...operations]);
      bytes = size;
    } else {
      group.push(...operations);
      bytes += size;
    }
  }
  return groups;
};

/** Whether they fit into one request. */
const fit = (changes: readonly Change[]): boolean => {
  const operations = changes.flatMap(operationsOf);
  return operations.length <= maxOperations && bytesOf(JSON.stringify(operations)) <= maxBytes;
};

/**
 * The users that a plan would affect, in as few parts as its operations fit into: the share of all of them together is at
 * least the greatest.
 */
export const previewPlan = async (
  { preview }: Management,
  changes: readonly Change[],
): Promise<readonly Result<ChangePreview>[]> => {
  const results: Result<ChangePreview>[] = [];
  for (const part of previewParts(stagesOf(changes).flat(), fit)) {
    const operations = part.flatMap(operationsOf);
    results.push(await preview.operations(operations, { timeout: previewTimeout }));
  }
  return results;
};

/** One after the other, up to the first that is rejected. */
export const proposeChanges = async (
  { changeRequests }: Management,
  changes: readonly Change[],
  reason?: string,
): Promise<readonly Result<ChangeRequest>[]> => {
  const results: Result<ChangeRequest>[] = [];
  for (const operations of groupsOf(stagesOf(changes).flat())) {
    const made = await changeRequests.create({
      operations,
      ...(reason !== undefined && { reason }),
    });
    results.push(made);
    if (!made.ok) break;
  }
  return results;
};
