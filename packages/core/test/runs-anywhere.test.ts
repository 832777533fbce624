// Evaluation loads nothing but core itself: no Node module, no package, so that it runs wherever the SDK does.
import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { test } from "node:test";

test("evaluation needs files beside it only", async () => {
  const asked: string[] = [];
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (context.parentURL?.includes("/core/src/")) asked.push(specifier);
      return next(specifier, context);
    },
  });
  const { evaluate } = await import("@halyard/core/evaluate");
  const { prepare } = await import("@halyard/core/flags/registry");
  hooks.deregister();

  const flag = prepare({ key: "a", type: "boolean", enabled: true, description: null });
  assert.deepEqual(evaluate(flag, {}), { value: true, variant: "on", reason: "STATIC" });
  assert.ok(asked.includes("./bucket.ts"));
  assert.deepEqual(
    asked.filter((specifier) => !specifier.startsWith(".") || specifier.endsWith("schemas.ts")),
    [],
  );
});
