// Random calls about flags, each with what the model says must come back.
import assert from "node:assert/strict";
import fc from "fast-check";
import { assertRefused, nextPath } from "../support/answers.ts";
import type { Answer } from "../support/api.ts";
import {
  bodyOf,
  type Command,
  command,
  type Flag,
  field,
  type Model,
  maybe,
  often,
} from "./model.ts";

const keys = ["a", "b", "B.2-c_d"];
const anyKey = fc.constantFrom(...keys);
const description = field(["", "x", "🚩 y", null], [5, "x".repeat(2_001)]);
const percentage = field([0, 0.001, 50, 99.999, 100], [-0.001, 100.001, 0.0005, "5", null]);
const createFlag = bodyOf({
  key: field(keys, [undefined, "", "-a", "a b", 5, null]),
  type: field(["boolean", "rollout"], [undefined, "string", null]),
  percentage: maybe(percentage),
  description: maybe(description),
  enabled: field([undefined], [true]),
});
const patchFlag = bodyOf({
  enabled: maybe(field([true, false], ["true", 1, null])),
  percentage: maybe(percentage),
  description: maybe(description),
  key: field([undefined], ["a"]),
  type: field([undefined], ["boolean"]),
});

type Tag = "none" | "any" | "current" | "stale" | "weak" | "malformed";
const tag = fc.constantFrom<Tag>(
  "none",
  "none",
  "none",
  "none",
  "any",
  "current",
  "stale",
  "weak",
  "malformed",
);
const tagText = (kind: Tag, version: number): string =>
  ({
    none: "",
    any: "*",
    current: `"x", "${version}"`,
    stale: `"${version - 1}", "${version + 1}"`,
    weak: `W/"${version}"`,
    malformed: String(version),
  })[kind];
const header = (name: string, kind: Tag, version = 1) =>
  kind === "none" ? {} : { [name]: tagText(kind, version) };

const assertFlag = (answer: Answer, status: number, model: Model, key: string): void => {
  assert.equal(answer.status, status, answer.text);
  assert.deepEqual(answer.body, model.flags.get(key));
  assert.equal(answer.headers.get("etag"), `"${model.versions.get(key)}"`);
};

/** True when the flag is there and If-Match holds; else the refusal is as it must be. */
const reached = (model: Model, key: string, match: Tag, answer: Answer): boolean => {
  const flag = model.flags.get(key);
  if (match === "malformed") assertRefused(answer, 400, "If-Match");
  else if (!flag) assertRefused(answer, 404, `"${key}"`);
  else if (match === "stale" || match === "weak") {
    assertRefused(answer, 412, `"${key}"`);
    assert.deepEqual((answer.body as { current: unknown }).current, flag);
  } else return true;
  return false;
};

export const flagCommands: fc.Arbitrary<Command>[] = [
  ...often(
    command("create flag", createFlag, async (model, admin, { body, valid }) => {
      const answer = await admin("POST", "/flags", body);
      const { key, type, description: text = null, percentage: share = 0 } = body as Partial<Flag>;
      if (!valid || key === undefined || type === undefined) return assertRefused(answer, 400);
      const isBoolean = type === "boolean";
      if (isBoolean && "percentage" in body) return assertRefused(answer, 400, "percentage");
      if (model.flags.has(key)) return assertRefused(answer, 409, `"${key}"`);
      const flag = { key, type, enabled: false, description: text };
      model.change(key, isBoolean ? flag : { ...flag, percentage: share }, "flag.created");
      return assertFlag(answer, 201, model, key);
    }),
  ),
  ...often(
    command(
      "patch flag",
      fc.tuple(anyKey, patchFlag, tag),
      async (model, admin, [key, input, match]) => {
        const { valid, body } = input;
        const headers = header("if-match", match, model.versions.get(key));
        const answer = await admin("PATCH", `/flags/${key}`, body, headers);
        if (!valid) return assertRefused(answer, 400);
        const flag = model.flags.get(key);
        if (!reached(model, key, match, answer) || !flag) return undefined;
        if (flag.type === "boolean" && "percentage" in body)
          return assertRefused(answer, 400, "rollout");
        const after: Flag = { ...flag, ...body };
        const updated =
          after.percentage !== flag.percentage || after.description !== flag.description;
        const turned = after.enabled ? "flag.enabled" : "flag.disabled";
        const types = [
          ...(after.enabled === flag.enabled ? [] : [turned]),
          ...(updated ? ["flag.updated"] : []),
        ];
        model.change(key, after, ...types);
        return assertFlag(answer, 200, model, key);
      },
    ),
  ),
  command("delete flag", fc.tuple(anyKey, tag), async (model, admin, [key, match]) => {
    const headers = header("if-match", match, model.versions.get(key));
    const answer = await admin("DELETE", `/flags/${key}`, undefined, headers);
    if (!reached(model, key, match, answer)) return;
    assert.deepEqual([answer.status, answer.text], [204, ""]);
    model.change(key, undefined, "flag.deleted");
  }),
  command("get flag", fc.tuple(anyKey, tag), async (model, admin, [key, match]) => {
    const headers = header("if-none-match", match, model.versions.get(key));
    const answer = await admin("GET", `/flags/${key}`, undefined, headers);
    if (!model.flags.has(key)) return assertRefused(answer, 404, `"${key}"`);
    const fresh = ["any", "current", "weak"].includes(match);
    if (fresh) return assert.deepEqual([answer.status, answer.text], [304, ""]);
    return assertFlag(answer, 200, model, key);
  }),
  command("read history", anyKey, async (model, admin, key) => {
    const answer = await admin("GET", `/flags/${key}/history`);
    const count = model.versions.get(key) ?? 0;
    if (count === 0) return assertRefused(answer, 404, `"${key}"`);
    const versions = (answer.body as { version: number }[]).map(({ version }) => version);
    return assert.deepEqual(
      versions,
      Array.from({ length: count }, (_, index) => count - index),
    );
  }),
  command(
    "list flags",
    fc.record(
      {
        limit: fc.constantFrom("1", "1", "2", "1000"),
        type: fc.constantFrom("boolean", "rollout"),
        enabled: fc.constantFrom("true", "false"),
        q: fc.constantFrom("b", "X", "🚩"),
      },
      { requiredKeys: [] },
    ),
    async (model, admin, query) => {
      const text = query.q?.toLowerCase() ?? "";
      const expected = model
        .sorted()
        .filter(
          (flag) =>
            (query.type ?? flag.type) === flag.type &&
            (query.enabled ?? String(flag.enabled)) === String(flag.enabled) &&
            [flag.key, flag.description ?? ""].some((part) => part.toLowerCase().includes(text)),
        );
      const found: unknown[] = [];
      let path: string | undefined = `/flags?${new URLSearchParams(query).toString()}`;
      while (path !== undefined) {
        const page: Answer = await admin("GET", path);
        assert.equal(page.status, 200, page.text);
        assert.equal(page.headers.get("etag"), `"${model.revision}"`);
        found.push(...(page.body as unknown[]));
        assert.ok(found.length <= expected.length, "the pages do not end");
        path = nextPath(page);
      }
      assert.deepEqual(found, expected);
    },
  ),
];
