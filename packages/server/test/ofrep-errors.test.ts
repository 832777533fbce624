// An evaluation that throws ends as every other request that does: 500, and a line in the log.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type FastifyRequest, fastify } from "fastify";
import { createDirect } from "../src/evaluation/ofrep/direct.ts";
import { createErrorHandler } from "../src/platform/http/errors/error-handler.ts";

test("an evaluation that throws, at once or later, is answered with 500 and logged", async () => {
  const logged: unknown[] = [];
  const app = fastify();
  app.setErrorHandler(
    createErrorHandler(
      { error: ({ err }: { err: Error }) => logged.push(err.message) },
      { shed: () => assert.fail("nothing is shed") },
    ),
  );
  app.addHook("onRequest", (request, _reply, done) => {
    const principal = { keyId: "k" } as FastifyRequest["auth"]["principal"];
    request.auth = { principal, keyText: "" };
    done();
  });
  const direct = createDirect({
    observer: { answered: () => assert.fail("no evaluation is answered") },
    keyCache: { isValid: () => true },
    isClosing: () => false,
    maxBodyBytes: 100,
  });
  const atOnce = direct(() => {
    throw new Error("thrown at once");
  });
  const later = direct(async () => {
    throw new Error("thrown later");
  });
  app.post("/ofrep/v1/evaluate/flags/at-once", atOnce);
  app.post("/ofrep/v1/evaluate/flags/later", later);
  for (const name of ["at-once", "later"]) {
    const response = await app.inject({
      method: "POST",
      url: `/ofrep/v1/evaluate/flags/${name}`,
      payload: { context: {} },
    });
    assert.equal(response.statusCode, 500);
    assert.match(response.json<{ errorDetails: string }>().errorDetails, /^Something went wrong/);
  }
  assert.deepEqual(logged, ["thrown at once", "thrown later"]);
  await app.close();
});
