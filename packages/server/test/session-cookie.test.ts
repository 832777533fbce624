// Session cookies as values: nothing but a whole one of ours is accepted.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { createSessionCookies } from "../src/http/auth/session-cookie.ts";
import { hour } from "./support/movable-clock.ts";

const start = Date.parse("2026-11-14T12:00:00.000Z");
const random = (count: number) => new Uint8Array(randomBytes(count));
const at = (time: number, key: Uint8Array = secret) =>
  createSessionCookies([key], () => new Date(time), random);
const secret = random(32);
const cookies = at(start);
const session = cookies.begin(["9f86d081884c7d65", "0123456789abcdef"], undefined);

test("what is sealed is opened as it was, and never sealed the same way twice", () => {
  assert.deepEqual(cookies.open(cookies.seal(session)), session);
  assert.notEqual(cookies.seal(session), cookies.seal(session));
  assert.equal(session.endsAt, start + 12 * hour);
  assert.deepEqual(cookies.begin(["other"], session), { ...session, keyIds: ["other"] });
});

test("a cookie that was changed in any bit, cut or lengthened is refused", () => {
  const text = cookies.seal(session);
  const bytes = Buffer.from(text, "base64url");
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.equal(cookies.open(changed.toString("base64url")), undefined, `bit ${bit}`);
  }
  for (let length = 0; length < text.length; length += 1) {
    assert.equal(cookies.open(text.slice(0, length)), undefined, `${length} characters`);
  }
  for (const other of [`${text}A`, `${text}=`, ` ${text}`, text.repeat(40)]) {
    assert.equal(cookies.open(other), undefined);
  }
});

test("no other text is a cookie", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.base64String(),
        fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each).toString("base64url")),
      ),
      (text) => cookies.open(text) === undefined,
    ),
    { numRuns: 300 },
  );
});

test("another secret key opens nothing and knows no token", () => {
  const stranger = at(start, random(32));
  assert.equal(stranger.open(cookies.seal(session)), undefined);
  assert.ok(cookies.isCsrfToken(session, cookies.csrfToken(session)));
  assert.ok(!stranger.isCsrfToken(session, cookies.csrfToken(session)));
  const other = cookies.begin([], undefined);
  assert.ok(!cookies.isCsrfToken(other, cookies.csrfToken(session)));
});

test("it ends when it says, and fits into a cookie with a hundred environments", () => {
  const text = cookies.seal(session);
  assert.ok(at(session.endsAt - 1).open(text));
  assert.equal(at(session.endsAt).open(text), undefined);
  const ids = Array.from({ length: 150 }, () => Buffer.from(random(8)).toString("hex"));
  const large = cookies.begin(ids, undefined);
  assert.deepEqual(large.keyIds, ids.slice(-100));
  const sealed = cookies.seal(large);
  assert.ok(sealed.length < 3_900, `${sealed.length} characters`);
  assert.deepEqual(cookies.open(sealed), large);
});
