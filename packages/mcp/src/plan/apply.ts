// Applies a plan, if nothing has changed since it was made.
import { createHash } from "node:crypto";
import type {
  ChangeRequest,
  FlagPatch,
  ManagementError,
  NewFlag,
  NewSegment,
  Result,
  SegmentMembers,
  SegmentPatch,
} from "@halyard/sdk/management";
import type { ToolDependencies } from "../dependencies.ts";
import { entryOf } from "../entries.ts";
import { serverError, type ToolResult, toolError, toolResult } from "../tool-result.ts";
import { findEnvironment, isFlagPatch, type Plan, type Planned } from "./plan.ts";

const planError = (code: string, sentence: string): ToolResult =>
  toolError(sentence, { error: { code } });

const ofAnother = planError("PLAN_NOT_VALID", "The plan is for a different environment.");

const opened = ({ seal, environment, now }: ToolDependencies, id: string): Plan | ToolResult => {
  const text = seal.open(id);
  if (text === undefined) {
    return planError(
      "PLAN_NOT_VALID",
      "This is not a valid plan id, or it was altered. Repeat it exactly, or make a new plan.",
    );
  }
  const plan = JSON.parse(text) as Plan;
  if (plan.environment !== environment) return ofAnother;
  if (plan.expiresAt <= now()) {
    return planError("PLAN_EXPIRED", "The plan has expired. Make a new plan and review it.");
  }
  return plan;
};

/** The errors of a concurrent change: the object has another version, is deleted, or already exists. */
const isConflict = ({ code }: ManagementError): boolean =>
  code === "PRECONDITION_FAILED" || code === "NOT_FOUND" || code === "CONFLICT";

/** The changes of the plan's objects since the plan was made. */
const changesSince = async (
  { management }: ToolDependencies,
  { operations }: Plan,
): Promise<readonly object[]> => {
  const entries: object[] = [];
  for (const { kind, key, version } of operations) {
    const history = await management.history({ subject: kind, id: key, limit: 20 });
    if (!history.ok) continue;
    const since = history.value.filter((entry) => (entry.version ?? 0) > (version ?? 0));
    entries.push(...since.map(entryOf));
  }
  return entries;
};

/** Always sends the version from the plan. */
const send = (
  { management: { flags, segments } }: ToolDependencies,
  { operations, reason }: Plan,
  idempotencyKey: string,
): Promise<Result<unknown>> => {
  const [first] = operations;
  if (first === undefined || operations.every(isFlagPatch)) {
    const changes = operations.map(({ key, version, body }) => ({
      flag: key,
      ifMatch: String(version),
      patch: body as FlagPatch,
    }));
    return flags.changeTogether(changes, { reason, idempotencyKey });
  }
  return sendOne(first, { flags, segments }, reason, idempotencyKey);
};

const sendOne = (
  { kind, key, action, version, body }: Planned,
  { flags, segments }: Pick<ToolDependencies["management"], "flags" | "segments">,
  reason: string,
  idempotencyKey: string,
): Promise<Result<unknown>> => {
  const of = { reason, ifMatch: version ?? 0 };
  const made = { reason, idempotencyKey };
  if (kind === "flag") {
    return action === "create"
      ? flags.create({ ...body, key } as NewFlag, made)
      : flags.delete(key, of);
  }
  switch (action) {
    case "create":
      return segments.create({ ...body, key } as NewSegment, made);
    case "patch":
      return segments.update(key, body as SegmentPatch, of);
    case "members":
      return segments.changeMembers(key, body as SegmentMembers, of);
    case "delete":
      return segments.delete(key, of);
  }
};

const proposedAs = (
  environment: string,
  { id, title, state }: Pick<ChangeRequest, "id" | "title" | "state">,
): ToolResult =>
  toolResult(
    "Created a change request. Nothing has changed yet: the environment is protected, and another user must approve the change request.",
    { environment, outcome: "proposed", changeRequest: { id, title, state } },
  );

export const applyPlan = async (
  dependencies: ToolDependencies,
  id: string,
): Promise<ToolResult> => {
  const plan = opened(dependencies, id);
  if ("content" in plan) return plan;
  const { management, environment } = dependencies;
  const { operations, reason } = plan;
  const failed = async (error: ManagementError): Promise<ToolResult> => {
    if (error.proposed) return proposedAs(environment, error.proposed);
    const since = isConflict(error) ? await changesSince(dependencies, plan) : [];
    if (since.length === 0) return serverError(error);
    return toolError(
      "Rejected: the flag or segment has changed since the plan was made. This call changed nothing. Review the changes, then make a new plan.",
      { environment, error: { code: "CHANGED_SINCE", message: error.message }, since },
    );
  };
  // Applying a plan twice sends the same idempotent request, which returns the first response again.
  const idempotencyKey = createHash("sha256").update(id).digest("hex");
  const place = await findEnvironment(management, environment);
  if (!place.ok) return serverError(place.error);
  if (place.value?.createdAt !== plan.createdAt) return ofAnother;
  if (place.value?.protected) {
    const made = await management.changeRequests.create({ operations, reason }, { idempotencyKey });
    return made.ok ? proposedAs(environment, made.value) : failed(made.error);
  }
  const done = await send(dependencies, plan, idempotencyKey);
  if (!done.ok) return failed(done.error);
  return toolResult("Applied.", {
    environment,
    outcome: "applied",
    changed: operations.map(({ kind, key, action }) => ({ kind, key, action })),
    ...(done.version !== undefined && { version: done.version }),
  });
};
