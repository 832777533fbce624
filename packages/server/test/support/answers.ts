// What tests ask of answers again and again: that a refusal has the shape of every refusal, and where the next page is.
import assert from "node:assert/strict";
import type { Answer } from "./api.ts";

const codes: Readonly<Record<number, string>> = {
  400: "VALIDATION_FAILED",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  409: "CONFLICT",
  412: "PRECONDITION_FAILED",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  429: "RATE_LIMITED",
  503: "UNAVAILABLE",
};

/** Refused with this status, its code, and a sentence in which each of the words stands. */
export const assertRefused = (answer: Answer, status: number, ...words: string[]): void => {
  assert.equal(answer.status, status, answer.text);
  const body = answer.body as { error: unknown; message: unknown };
  assert.equal(body.error, codes[status]);
  assert.ok(typeof body.message === "string");
  for (const word of words) {
    assert.ok(body.message.includes(word), `"${body.message}" does not say "${word}"`);
  }
};

/** The path of the next page below /api/v1; undefined on the last page. */
export const nextPath = (answer: Answer): string | undefined => {
  const link = answer.headers.get("link");
  if (link === null) return undefined;
  const path = /^<\/api\/v1(\/[^>]+)>; rel="next"$/.exec(link)?.[1];
  assert.ok(path, `${link} is not a Link to a next page`);
  return path;
};
