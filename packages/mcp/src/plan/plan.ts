// A plan: operations with the versions that they were made for, good for a while, and all of it in its id.
import { difference } from "@halyard/core/difference";
import { applyPatch } from "@halyard/core/flags/change";
import type { Environment, FlagPatch, Management, Result } from "@halyard/sdk/management";
import { type Answer, answer, refusal, refusedByServer } from "../answer.ts";
import type { ToolDependencies } from "../dependencies.ts";
import type { Operation } from "../operations.ts";

/** With the version that it was made for; null for what is to be created. */
export type Planned = Operation & { readonly version: number | null };

export interface Plan {
  readonly environment: string;
  /** Of the environment: another one can have its name later. */
  readonly createdAt: string | undefined;
  readonly operations: readonly Planned[];
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

const lifetime = 15 * 60_000;
/** Milliseconds: many flags and contexts take a while. */
const previewTimeout = 60_000;

export const isFlagPatch = ({ kind, action }: Pick<Operation, "kind" | "action">): boolean =>
  kind === "flag" && action === "patch";

/** Only what one request does can be made whole or not at all. */
export const cannotBeOne = (operations: readonly Operation[]): Answer | undefined => {
  const keys = new Set(operations.map(({ key }) => key));
  const isTogether = operations.every(isFlagPatch) && keys.size === operations.length;
  if (operations.length === 1 || isTogether) return undefined;
  return refusal(
    "A plan holds patches of different flags, or one operation of any other kind. Make several plans, one after the other.",
    { error: { code: "NOT_ONE_CHANGE" } },
  );
};

interface Read {
  readonly operation: Planned;
  /** For whoever reads the plan. */
  readonly shown: Readonly<Record<string, unknown>>;
}

/** The version that the operation is made for, and what it makes different. */
const readOne = async ({ flags, segments }: Management, sent: Operation): Promise<Result<Read>> => {
  const { kind, action, key, body } = sent;
  if (action === "create") {
    return { ok: true, value: { operation: { ...sent, version: null }, shown: sent } };
  }
  const now = kind === "flag" ? await flags.get(key) : await segments.get(key);
  if (!now.ok) return now;
  const operation = { ...sent, version: now.version ?? null };
  if (!("type" in now.value) || action !== "patch") {
    return { ok: true, value: { operation, shown: operation } };
  }
  const { value: flag } = now;
  const patched = applyPatch(flag, body as FlagPatch);
  // What is wrong with it, the preview says.
  const changes = patched.ok ? difference(flag, patched.flag) : [];
  const { version } = operation;
  return { ok: true, value: { operation, shown: { kind, action, key, version, changes } } };
};

export const makePlan = async (
  { management, environment, seal, now }: ToolDependencies,
  operations: readonly Operation[],
  reason: string,
  extra: Readonly<Record<string, unknown>> = {},
): Promise<Answer> => {
  const read: Read[] = [];
  for (const each of operations) {
    const one = await readOne(management, each);
    if (!one.ok) return refusedByServer(one.error);
    read.push(one.value);
  }
  const planned = read.map(({ operation }) => operation);
  const preview = await management.preview.operations(planned, {
    rounded: true,
    timeout: previewTimeout,
  });
  if (!preview.ok) return refusedByServer(preview.error);
  const isNothing = read.every(
    ({ shown: { changes } }) => Array.isArray(changes) && changes.length === 0,
  );
  if (isNothing) {
    return refusal("There is nothing to change: everything is so already.", {
      error: { code: "NOTHING_TO_CHANGE" },
    });
  }
  const place = await findEnvironment(management, environment);
  if (!place.ok) return refusedByServer(place.error);
  const { createdAt, protected: isProtected = false } = place.value ?? {};
  const expiresAt = now() + lifetime;
  const plan: Plan = { environment, createdAt, operations: planned, reason, expiresAt };
  const id = seal.seal(JSON.stringify(plan));
  if (id === undefined) {
    return refusal(
      "This is too much for one plan: its id would be too long to repeat. Make several plans, one after the other.",
      { error: { code: "PLAN_TOO_LARGE" } },
    );
  }
  const then = isProtected
    ? "apply_plan proposes it as a change request, which another person has to approve."
    : "apply_plan makes the change at once.";
  return answer(
    `Nothing has changed yet. Show the plan to the person you work for and wait for their word; ${then}`,
    {
      environment,
      protected: isProtected,
      plan: id,
      expiresAt: new Date(expiresAt).toISOString(),
      reason,
      changes: read.map(({ shown }) => shown),
      ...extra,
      preview: preview.value,
    },
  );
};

/** The key's own. Whether it is protected counts here also for a key that may write past that. */
export const findEnvironment = async (
  { environments }: Management,
  environment: string,
): Promise<Result<Environment | undefined>> => {
  const list = await environments.list();
  if (!list.ok) return list;
  return { ok: true, value: list.value.find(({ name }) => name === environment) };
};
