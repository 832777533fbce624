// Flags that are evaluated, and what is counted of them.
import assert from "node:assert/strict";
import type { FlagUsage } from "@halyard/sdk/management";
import type { TestEnvironment, TestServer } from "./server.ts";

/** A new environment with these flags. */
export const environmentWith = async (
  server: TestServer,
  keys: readonly string[],
): Promise<TestEnvironment> => {
  const environment = await server.environment();
  for (const key of keys) await environment.admin("POST", "/flags", { key, type: "boolean" });
  return environment;
};

export const evaluate = async (environment: TestEnvironment, key: string): Promise<void> => {
  const answer = await environment.client("POST", `//ofrep/v1/evaluate/flags/${key}`, {
    context: { targetingKey: "u" },
  });
  assert.equal(answer.status, 200);
};

export const usageOf = async (
  environment: TestEnvironment,
  key: string,
  query = "",
): Promise<FlagUsage> => {
  const answer = await environment.server("GET", `/flags/${key}/usage${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body as FlagUsage;
};
