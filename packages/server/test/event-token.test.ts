// Tokens of event streams: who may use which, for how long, and that nothing but a whole one is accepted.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { createEventTokens } from "../src/platform/auth/event-token.ts";
import type { Principal } from "../src/platform/auth/principal.ts";
import { hour, minute } from "./support/movable-clock.ts";

const principal: Principal = {
  keyId: "9f86d081884c7d65",
  role: "client",
  actor: { keyId: "9f86d081884c7d65", name: "web" },
  environment: { id: 7, name: "production" },
  expiresAt: null,
  origins: null,
};
const key = randomBytes(32);
const older = randomBytes(32);
const start = Date.parse("2026-11-14T12:00:00.000Z");
const tokensAt = (time: number, ...keys: [Uint8Array, ...Uint8Array[]]) =>
  createEventTokens(keys, () => new Date(time));

test("a token names the environment and the key that it was made for", () => {
  const tokens = tokensAt(start, key);
  const token = tokens.eventToken(principal);
  assert.match(token, /^[A-Za-z0-9_-]{40,80}$/);
  assert.deepEqual(tokens.verify(token), { environmentId: 7, keyId: principal.keyId });
  const other = {
    ...principal,
    environment: { id: 4_000_000_000, name: "x" },
    keyId: "0123456789abcdef",
  };
  assert.deepEqual(tokens.verify(tokens.eventToken(other)), {
    environmentId: 4_000_000_000,
    keyId: "0123456789abcdef",
  });
});

test("it stays the same for an hour and is good for one to two", () => {
  const token = tokensAt(start, key).eventToken(principal);
  assert.equal(tokensAt(start + hour - 1, key).eventToken(principal), token);
  assert.notEqual(tokensAt(start + hour, key).eventToken(principal), token);

  const goodAt = (time: number) => tokensAt(time, key).verify(token) !== undefined;
  assert.ok(goodAt(start));
  assert.ok(goodAt(start + 2 * hour - 1));
  assert.ok(!goodAt(start + 2 * hour));
  assert.ok(!goodAt(start + 365 * 24 * hour));
  const late = tokensAt(start + 59 * minute, key).eventToken(principal);
  assert.ok(tokensAt(start + 119 * minute, key).verify(late));
});

test("instances with the same keys accept each other's, also while the keys are replaced", () => {
  const old = tokensAt(start, older);
  const between = tokensAt(start, older, key);
  const renewed = tokensAt(start, key, older);
  const alone = tokensAt(start, key);
  for (const [maker, reader, good] of [
    [old, between, true],
    [old, renewed, true],
    [between, old, true],
    [renewed, between, true],
    [renewed, alone, true],
    [old, alone, false],
    [alone, old, false],
  ] as const) {
    assert.equal(reader.verify(maker.eventToken(principal)) !== undefined, good);
  }
});

test("the secret key itself signs nothing: a token says nothing about it", () => {
  // Derived with a label of its own, so what one use of the key signs is of no use to another.
  const [a, b] = [tokensAt(start, key), tokensAt(start, Buffer.from(key).reverse())];
  assert.notEqual(a.eventToken(principal), b.eventToken(principal));
});

test("a token that was changed in any bit, cut or lengthened is refused", () => {
  const tokens = tokensAt(start, key);
  const token = tokens.eventToken(principal);
  const bytes = Buffer.from(token, "base64url");
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.equal(tokens.verify(changed.toString("base64url")), undefined, `bit ${bit}`);
  }
  for (let length = 0; length < token.length; length += 1) {
    assert.equal(tokens.verify(token.slice(0, length)), undefined, `${length} characters`);
  }
  for (const other of [`${token}A`, `${token}=`, ` ${token}`, `${token}\n`, token.repeat(9)]) {
    assert.equal(tokens.verify(other), undefined, JSON.stringify(other));
  }
});

test("no other text is a token", () => {
  const tokens = tokensAt(start, key);
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string({ unit: "binary", maxLength: 500 }),
        fc.base64String(),
        fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each).toString("base64url")),
      ),
      (text) => tokens.verify(text) === undefined,
    ),
    { numRuns: 300 },
  );
});
