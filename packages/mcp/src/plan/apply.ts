// Carries out a plan, if everything is still as it was when the plan was made.
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
import { type Answer, answer, refusal, refusedByServer } from "../answer.ts";
import type { ToolDependencies } from "../dependencies.ts";
import { entryOf } from "../entries.ts";
import { findEnvironment, isFlagPatch, type Plan, type Planned } from "./plan.ts";

const refused = (code: string, sentence: string): Answer => refusal(sentence, { error: { code } });

const ofAnother = refused("PLAN_NOT_VALID", "The plan was made for another environment.");

const opened = ({ seal, environment, now }: ToolDependencies, id: string): Plan | Answer => {
  const text = seal.open(id);
  if (text === undefined) {
    return refused(
      "PLAN_NOT_VALID",
      "This is not the id of a plan, or it was altered on the way. Repeat it exactly, or make the plan again.",
    );
  }
  const plan = JSON.parse(text) as Plan;
  if (plan.environment !== environment) return ofAnother;
  if (plan.expiresAt <= now()) {
    return refused("PLAN_EXPIRED", "The plan has expired. Make it again, and look at it again.");
  }
  return plan;
};

/** Somebody was faster: it is at another version, gone, or there already. */
const isConflict = ({ code }: ManagementError): boolean =>
  code === "PRECONDITION_FAILED" || code === "NOT_FOUND" || code === "CONFLICT";

/** What happened to the things of the plan since it was made. */
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

/** Always with the version that was planned. */
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
): Answer =>
  answer(
    "Proposed. Nothing has changed yet: the environment is protected, and another person has to approve the change request.",
    { environment, outcome: "proposed", changeRequest: { id, title, state } },
  );

export const applyPlan = async (dependencies: ToolDependencies, id: string): Promise<Answer> => {
  const plan = opened(dependencies, id);
  if ("content" in plan) return plan;
  const { management, environment } = dependencies;
  const { operations, reason } = plan;
  const failed = async (error: ManagementError): Promise<Answer> => {
    if (error.proposed) return proposedAs(environment, error.proposed);
    const since = isConflict(error) ? await changesSince(dependencies, plan) : [];
    if (since.length === 0) return refusedByServer(error);
    return refusal(
      "Refused: somebody has changed this since the plan was made. Nothing was changed by this call. Look at what changed, and make a new plan.",
      { environment, error: { code: "CHANGED_SINCE", message: error.message }, since },
    );
  };
  // The same plan twice is the same request twice: it is answered as the first was.
  const idempotencyKey = createHash("sha256").update(id).digest("hex");
  const place = await findEnvironment(management, environment);
  if (!place.ok) return refusedByServer(place.error);
  if (place.value?.createdAt !== plan.createdAt) return ofAnother;
  if (place.value?.protected) {
    const made = await management.changeRequests.create({ operations, reason }, { idempotencyKey });
    return made.ok ? proposedAs(environment, made.value) : failed(made.error);
  }
  const done = await send(dependencies, plan, idempotencyKey);
  if (!done.ok) return failed(done.error);
  return answer("Applied.", {
    environment,
    outcome: "applied",
    changed: operations.map(({ kind, key, action }) => ({ kind, key, action })),
    ...(done.version !== undefined && { version: done.version }),
  });
};
