// A plan: operations with the versions that they are based on, and an expiration. Its id contains all of it.
import { difference } from "@halyard/core/difference";
import { applyPatch } from "@halyard/core/flags/change";
import type { Environment, FlagPatch, Management, Result } from "@halyard/sdk/management";
import type { ToolDependencies } from "../dependencies.ts";
import type { Operation } from "../operations.ts";
import { serverError, type ToolResult, toolError, toolResult } from "../tool-result.ts";

/** With the version that it is based on; null for an object to create. */
export type Planned = Operation & { readonly version: number | null };

export interface Plan {
  readonly environment: string;
  /** The id of the environment. A name could later belong to another environment. */
  readonly createdAt: string | undefined;
  readonly operations: readonly Planned[];
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

const lifetime = 15 * 60_000;
/** In milliseconds. Many flags and contexts take a while. */
const previewTimeout = 60_000;

export const isFlagPatch = ({ kind, action }: Pick<Operation, "kind" | "action">): boolean =>
  kind === "flag" && action === "patch";

/** A plan must fit into one request, which is applied as a whole or not at all. */
export const singlePlanError = (operations: readonly Operation[]): ToolResult | undefined => {
  const keys = new Set(operations.map(({ key }) => key));
  const isTogether = operations.every(isFlagPatch) && keys.size === operations.length;
  if (operations.length === 1 || isTogether) return undefined;
  return toolError(
    "A plan contains patches of different flags, or one operation of any other kind. Make several plans, one after another.",
    { error: { code: "NOT_ONE_CHANGE" } },
  );
};

interface Read {
  readonly operation: Planned;
  /** The change in a readable form. */
  readonly shown: Readonly<Record<string, unknown>>;
}

/** The version that the operation is based on, and the difference that it makes. */
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
  // The preview reports what is wrong with the operation.
  const changes = patched.ok ? difference(flag, patched.flag) : [];
  const { version } = operation;
  return { ok: true, value: { operation, shown: { kind, action, key, version, changes } } };
};

export const makePlan = async (
  { management, environment, seal, now }: ToolDependencies,
  operations: readonly Operation[],
  reason: string,
  extra: Readonly<Record<string, unknown>> = {},
): Promise<ToolResult> => {
  const read: Read[] = [];
  for (const each of operations) {
    const one = await readOne(management, each);
    if (!one.ok) return serverError(one.error);
    read.push(one.value);
  }
  const planned = read.map(({ operation }) => operation);
  const preview = await management.preview.operations(planned, {
    rounded: true,
    timeout: previewTimeout,
  });
  if (!preview.ok) return serverError(preview.error);
  const isNothing = read.every(
    ({ shown: { changes } }) => Array.isArray(changes) && changes.length === 0,
  );
  if (isNothing) {
    return toolError("Nothing to change. Everything is already up to date.", {
      error: { code: "NOTHING_TO_CHANGE" },
    });
  }
  const place = await findEnvironment(management, environment);
  if (!place.ok) return serverError(place.error);
  const { createdAt, protected: isProtected = false } = place.value ?? {};
  const expiresAt = now() + lifetime;
  const plan: Plan = { environment, createdAt, operations: planned, reason, expiresAt };
  const id = seal.seal(JSON.stringify(plan));
  if (id === undefined) {
    return toolError(
      "The change is too large for one plan, because its id would be too long to repeat. Make several plans, one after another.",
      { error: { code: "PLAN_TOO_LARGE" } },
    );
  }
  const then = isProtected
    ? "apply_plan creates a change request, which another user must approve."
    : "apply_plan applies the change immediately.";
  return toolResult(
    `Nothing has changed yet. Show the plan to your user and wait for approval; ${then}`,
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

/** The environment of the key. Whether it is protected matters here even for a key that can bypass approval. */
export const findEnvironment = async (
  { environments }: Management,
  environment: string,
): Promise<Result<Environment | undefined>> => {
  const list = await environments.list();
  if (!list.ok) return list;
  return { ok: true, value: list.value.find(({ name }) => name === environment) };
};
