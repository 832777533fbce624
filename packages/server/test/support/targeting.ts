// An environment for tests of targeting: makes flags that are on, and evaluates them.
import assert from "node:assert/strict";
import type { TestServer } from "./server.ts";

export const inPlan = (...values: readonly string[]) => ({ attribute: "plan", op: "in", values });

export interface Value {
  readonly value: unknown;
  readonly variant: string;
  readonly reason: string;
  readonly metadata?: unknown;
}

export const targetingIn = async (server: TestServer) => {
  const { keys, admin } = await server.environment();
  const api = (key: string) => server.api(key);
  const evaluate = async (key: string, context: object, asked = keys.server): Promise<Value> => {
    const answer = await api(asked)("POST", `//ofrep/v1/evaluate/flags/${key}`, { context });
    const { key: _, ...rest } = answer.body as Value & { readonly key: string };
    return rest;
  };
  const create = async (flag: object) => {
    const made = await admin("POST", "/flags", flag);
    assert.equal(made.status, 201, made.text);
    const { key } = flag as { readonly key: string };
    const on = await admin("PATCH", `/flags/${key}`, { enabled: true });
    assert.equal(on.status, 200, on.text);
    return on.body as Readonly<Record<string, unknown>>;
  };
  return { keys, admin, api, evaluate, create };
};
