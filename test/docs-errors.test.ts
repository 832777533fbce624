// The tables of the SDK guide list every reason and every error code that the SDK's types have.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClientError, Details } from "../packages/sdk/src/index.ts";
import type { ManagementErrorCode } from "../packages/sdk/src/management.ts";
import type { WebhookVerificationReason } from "../packages/sdk/src/webhooks.ts";
import { read } from "./support/pages.ts";

// The compiler compares these with the types: a code that is added there is missing here.
const reasons = {
  STATIC: true,
  DISABLED: true,
  PREREQUISITE_FAILED: true,
  TARGETING_MATCH: true,
  SPLIT: true,
  DEFAULT: true,
  CACHED: true,
  STALE: true,
  UNKNOWN: true,
  ERROR: true,
} satisfies Record<Details["reason"], true>;

const evaluationErrors = {
  PROVIDER_NOT_READY: true,
  FLAG_NOT_FOUND: true,
  TARGETING_KEY_MISSING: true,
  TYPE_MISMATCH: true,
  PARSE_ERROR: true,
  INVALID_CONTEXT: true,
  GENERAL: true,
} satisfies Record<NonNullable<Details["errorCode"]>, true>;

const clientErrors = {
  UNREACHABLE: true,
  UNAUTHORIZED: true,
  FORBIDDEN: true,
  UNEXPECTED_ANSWER: true,
  UNSUPPORTED_RUNTIME: true,
  CACHE_FAILED: true,
  LISTENER_FAILED: true,
  FLAG_NOT_FOUND: true,
  TYPE_MISMATCH: true,
  PAUSED: true,
  CLOSED: true,
} satisfies Record<ClientError["code"], true>;

/** True: only in the SDK. False: in the table of the interface. */
const managementErrors = {
  VALIDATION_FAILED: false,
  UNAUTHORIZED: false,
  FORBIDDEN: false,
  SIGN_IN_AGAIN: false,
  NOT_FOUND: false,
  METHOD_NOT_ALLOWED: false,
  CONFLICT: false,
  APPROVAL_NEEDED: false,
  TOO_MANY_FLIPS: false,
  PRECONDITION_FAILED: false,
  PAYLOAD_TOO_LARGE: false,
  UNSUPPORTED_MEDIA_TYPE: false,
  RATE_LIMITED: false,
  INTERNAL: false,
  UNAVAILABLE: false,
  UNREACHABLE: true,
  ABORTED: true,
  UNEXPECTED_ANSWER: true,
} satisfies Record<ManagementErrorCode, boolean>;

const verificationReasons = {
  "missing-signature": true,
  "malformed-header": true,
  "bad-signature": true,
  "timestamp-too-old": true,
  "timestamp-too-new": true,
  "malformed-body": true,
  "body-not-raw": true,
  "unusable-secret": true,
} satisfies Record<WebhookVerificationReason, true>;

const guide = read("docs/evaluate/typescript.md");
const reference = read("docs/reference/interface.md");

/** The names in this column of the first table whose header begins with these cells. */
const namesIn = (page: string, header: RegExp, column = 0): string[] => {
  const lines = page.split("\n");
  const start = lines.findIndex((line) => header.test(line));
  assert.ok(start >= 0, `no table ${header}`);
  const rest = lines.slice(start + 2);
  const rows = rest.slice(
    0,
    rest.findIndex((line) => !line.startsWith("|")),
  );
  return [
    ...new Set(rows.map((row) => /`([^`]+)`/.exec(row.split("|")[column + 1] ?? "")?.[1] ?? row)),
  ].toSorted();
};

const keysOf = (codes: object): string[] => Object.keys(codes).toSorted();

test("reasons and error codes of evaluations", () => {
  assert.deepEqual(namesIn(guide, /^\| `reason` +\| meaning/), keysOf(reasons));
  assert.deepEqual(namesIn(guide, /^\| `errorCode` +\| meaning/), keysOf(evaluationErrors));
});

test("error codes of the clients", () => {
  assert.deepEqual(namesIn(guide, /^\| `error\.code` +\| meaning/), keysOf(clientErrors));
});

test("error codes of management, with those of the interface", () => {
  const own = Object.entries(managementErrors).filter(([, isOwn]) => isOwn);
  assert.deepEqual(namesIn(guide, /^\| code +\| meaning/), own.map(([code]) => code).toSorted());
  const served = Object.entries(managementErrors).filter(([, isOwn]) => !isOwn);
  assert.deepEqual(
    namesIn(reference, /^\| status \| `error` +\| when/, 1),
    served.map(([code]) => code).toSorted(),
  );
});

test("reasons of a webhook that is not genuine", () => {
  const page = read("docs/webhooks.md");
  const missing = keysOf(verificationReasons).filter((reason) => !page.includes(`\`${reason}\``));
  assert.deepEqual(missing, []);
});
