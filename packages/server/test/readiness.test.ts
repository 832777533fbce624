// How often /readyz asks the store.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fastify } from "fastify";
import { healthRoutes } from "../src/platform/http/health.ts";
import { ErrorBody } from "../src/platform/http/openapi/describe.ts";
import { apiSchemas } from "../src/server/routes.ts";
import { until } from "./support/until.ts";

test("/readyz asks the store once for all who ask at the same time, and in the second after", async () => {
  let asked = 0;
  let isDown = false;
  const app = fastify();
  for (const schema of [...apiSchemas, ErrorBody]) app.addSchema(schema);
  const check = async () => {
    asked += 1;
    await new Promise(setImmediate);
    if (isDown) throw new Error("down");
  };
  const lines: string[] = [];
  const log = { error: (_fields: object, message: string) => lines.push(message) } as never;
  healthRoutes(app, { check, isLeaving: () => false }, log);
  const status = async () => (await app.inject("/readyz")).statusCode;
  const many = () => Promise.all(Array.from({ length: 20 }, status));
  assert.deepEqual(new Set([...(await many()), ...(await many())]), new Set([200]));
  assert.equal(asked, 1);
  isDown = true;
  await until("it to ask again", async () => (await status()) === 503);
  assert.deepEqual(new Set(await many()), new Set([503]));
  assert.deepEqual([asked, lines], [2, ["not ready"]]);
  await app.close();
});
