// What holds for every refusal: the fields of its body, and that nothing was changed by the request.
import assert from "node:assert/strict";
import { assertRefused } from "./answers.ts";
import type { Answer } from "./api.ts";
import { readRows } from "./database.ts";
import type { TestServer } from "./server.ts";

/** Refused, with the fields of an error and no others. */
export const assertError = (
  answer: Answer | undefined,
  status: number,
  ...words: string[]
): void => {
  assert.ok(answer, "no answer");
  assertRefused(answer, status, ...words);
  const { details, ...rest } = answer.body as Record<string, unknown>;
  assert.deepEqual(Object.keys(rest), ["error", "message"]);
  assert.ok(details === undefined || status === 400);
  assert.ok(answer.headers.get("x-request-id"), "no X-Request-Id");
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
};

const tables = ["environments", "flags", "webhooks", "api_keys", "history", "events"] as const;

/** All that requests can change, to be compared with itself later. */
export const readEverything = async (server: TestServer): Promise<unknown> => {
  const rows = await Promise.all(tables.map((table) => readRows(server, `select * from ${table}`)));
  // When a key was last used is written down some time after an earlier request.
  return rows.map((table) => table.map((row) => ({ ...(row as object), last_used_at: undefined })));
};
