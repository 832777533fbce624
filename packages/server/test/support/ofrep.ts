// Asks for evaluations as an OpenFeature client would, and holds the answers against the protocol.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Answer, Api } from "./api.ts";

const ajv = new Ajv2020({ strict: false });
ajv.addSchema(
  JSON.parse(readFileSync(new URL("../fixtures/ofrep-schemas.json", import.meta.url), "utf8")),
);

export const assertProtocol = (name: string, value: unknown): void => {
  const validate = ajv.getSchema(`ofrep#/$defs/${name}`);
  assert.ok(validate, name);
  assert.ok(
    validate(value),
    `${JSON.stringify(value)} is not a ${name}: ${ajv.errorsText(validate.errors)}`,
  );
};

/** Refused with nothing but a sentence, readable for a page. */
export const assertProtocolRefusal = (answer: Answer, status: number, word: string): void => {
  assert.equal(answer.status, status, answer.text);
  assertProtocol("generalError", answer.body);
  const { errorDetails, ...rest } = answer.body as Record<string, unknown>;
  assert.deepEqual(rest, {});
  assert.ok(String(errorDetails).includes(word), String(errorDetails));
  assert.equal(answer.headers.get("access-control-allow-origin"), "*");
  assert.match(answer.headers.get("access-control-expose-headers") ?? "", /retry-after/);
};

/** Which body the protocol has for this status of a path. */
const shapes: Readonly<Record<"single" | "bulk", Readonly<Record<number, string>>>> = {
  single: { 200: "success", 400: "failure", 404: "notFound" },
  bulk: { 200: "bulkSuccess", 400: "bulkFailure" },
};

const check = (kind: "single" | "bulk", answer: Answer): Answer => {
  assert.equal(answer.headers.get("access-control-allow-origin"), "*");
  if (answer.status === 304) assert.equal(answer.text, "");
  else assertProtocol(shapes[kind][answer.status] ?? "generalError", answer.body);
  return answer;
};

type Headers = Readonly<Record<string, string>>;

export const evaluateOne = async (
  api: Api,
  key: string,
  body: unknown = { context: {} },
  headers?: Headers,
): Promise<Answer> =>
  check("single", await api("POST", `//ofrep/v1/evaluate/flags/${key}`, body, headers));

export const evaluateAll = async (
  api: Api,
  body: unknown = { context: {} },
  headers?: Headers,
  query = "",
): Promise<Answer> =>
  check("bulk", await api("POST", `//ofrep/v1/evaluate/flags${query}`, body, headers));

export interface BulkBody {
  readonly flags: readonly { readonly key: string; readonly value?: boolean }[];
  readonly eventStreams?: readonly { readonly url: string }[];
}

export const bulkBody = ({ body }: Answer): BulkBody => body as BulkBody;

/** A new flag as it is to be. */
export const makeFlag = async (
  api: Api,
  flag: { key: string; type: string; enabled?: boolean; percentage?: number },
): Promise<void> => {
  const { enabled, ...rest } = flag;
  const made = await api("POST", "/flags", rest);
  assert.equal(made.status, 201, made.text);
  if (enabled) await changeFlag(api, flag.key, { enabled });
};

export const changeFlag = async (api: Api, key: string, patch: object): Promise<void> => {
  const changed = await api("PATCH", `/flags/${key}`, patch);
  assert.equal(changed.status, 200, changed.text);
};
