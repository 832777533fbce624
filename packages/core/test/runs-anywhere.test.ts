// Evaluation loads only core itself, no Node module and no package, so that it runs wherever the SDK does.
import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { test } from "node:test";

test("evaluation imports only core's own files", async () => {
  const imported: string[] = [];
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (context.parentURL?.includes("/core/src/")) imported.push(specifier);
      return next(specifier, context);
    },
  });
  const { evaluate } = await import("@halyard/core/evaluate");
  const { prepare } = await import("@halyard/core/flags/registry");
  hooks.deregister();

  const flag = prepare({ key: "a", type: "boolean", enabled: true, description: null });
  assert.deepEqual(evaluate(flag, {}), { value: true, variant: "on", reason: "STATIC" });
  assert.ok(imported.includes("./bucket.ts"));
  assert.deepEqual(
    imported.filter((specifier) => !specifier.startsWith(".") || specifier.endsWith("schemas.ts")),
    [],
  );
});
