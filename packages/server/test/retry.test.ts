// When an attempt is repeated, and how many requests a webhook gets at once.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Outcome } from "../src/features/webhooks/deliveries/rules.ts";
import {
  afterFailure,
  afterSuccess,
  type Breaker,
  decideRetry,
  healthy,
  limitOf,
  requestsAtOnce,
  retryAfterOf,
  retryPauses,
} from "../src/features/webhooks/sending/rules.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const now = Date.UTC(2026, 10, 14, 12);
const middle = 0.5;

const answered = (status: number, retryAfter?: string): Outcome => ({
  kind: "answered",
  status,
  retryAfter,
  response: "",
  milliseconds: 1,
});
const broken: Outcome = {
  kind: "broken",
  reason: "the connection was reset",
  status: undefined,
  response: "",
  milliseconds: 1,
};
const anyFailure = fc.oneof(
  fc.constant(broken),
  fc.oneof(fc.integer({ min: 300, max: 599 }), fc.constant(101)).map((status) => answered(status)),
);

describe("retries", () => {
  test("after each attempt comes the pause that the schedule says", () => {
    const expected = [
      5 * second,
      30 * second,
      2 * minute,
      10 * minute,
      30 * minute,
      2 * hour,
      5 * hour,
      10 * hour,
      14 * hour,
      20 * hour,
      24 * hour,
    ];
    for (const [index, pause] of expected.entries()) {
      for (const failure of [broken, answered(500), answered(302), answered(404)]) {
        const decision = decideRetry(failure, index + 1, now, middle);
        assert.deepEqual(
          decision,
          { kind: "retry", at: now + pause, notBefore: 0 },
          `attempt ${index + 1}`,
        );
      }
    }
    assert.deepEqual(decideRetry(broken, expected.length + 1, now, middle), { kind: "failed" });
    assert.deepEqual(decideRetry(answered(500, "60"), expected.length + 1, now, 0), {
      kind: "failed",
    });
  });

  test("any 2xx is the end of it, whichever attempt it was", () => {
    for (const status of [200, 201, 202, 204, 299]) {
      for (const attempts of [1, 5, 12]) {
        assert.deepEqual(decideRetry(answered(status), attempts, now, middle), {
          kind: "delivered",
        });
      }
    }
  });

  test("the jitter is at most a fifth, both ways, and is used", () => {
    const random = fc.double({ min: 0, max: 1, noNaN: true });
    const attempts = fc.integer({ min: 1, max: retryPauses.length });
    fc.assert(
      fc.property(anyFailure, attempts, random, (failure, attempt, chance) => {
        const decision = decideRetry(failure, attempt, now, chance);
        assert.ok(decision.kind === "retry");
        const pause = retryPauses[attempt - 1] ?? Number.NaN;
        assert.ok(decision.at - now >= 0.8 * pause && decision.at - now <= 1.2 * pause);
        assert.ok(Number.isInteger(decision.at));
      }),
    );
    assert.deepEqual(decideRetry(broken, 1, now, 0), {
      kind: "retry",
      at: now + 4 * second,
      notBefore: 0,
    });
    assert.deepEqual(decideRetry(broken, 1, now, 1), {
      kind: "retry",
      at: now + 6 * second,
      notBefore: 0,
    });
  });

  const day = 24 * hour;
  const asked: [header: string | undefined, milliseconds: number][] = [
    [undefined, 0],
    ["0", 0],
    ["120", 2 * minute],
    [" 120 ", 2 * minute],
    ["86400", day],
    ["86401", day],
    ["999999999", day],
    ["Sat, 14 Nov 2026 12:10:00 GMT", 10 * minute],
    ["Sat, 14 Nov 2026 11:59:59 GMT", 0],
    ["Fri, 31 Dec 9999 23:59:59 GMT", day],
    ["soon", 0],
    ["", 0],
    ["-5", 0],
    ["1e3", 0],
  ];
  for (const [header, milliseconds] of asked) {
    test(`Retry-After ${JSON.stringify(header)} asks for ${milliseconds / second} s`, () => {
      assert.equal(retryAfterOf(header, now), milliseconds);
    });
  }

  test("Retry-After makes a pause longer, never shorter", () => {
    const at = (attempts: number, header: string) => {
      const decision = decideRetry(answered(503, header), attempts, now, middle);
      return decision.kind === "retry" ? decision.at - now : decision.kind;
    };
    assert.equal(at(1, "60"), minute);
    assert.equal(at(1, "1"), 5 * second);
    assert.equal(at(3, "60"), 2 * minute);
    assert.equal(at(1, "Sun, 15 Nov 2026 23:00:00 GMT"), day);
    assert.equal(at(11, "172800"), 24 * hour);
  });

  test("what the receiver asked for is remembered beside the schedule", () => {
    const asks = decideRetry(answered(503, "1"), 1, now, middle);
    assert.deepEqual(asks, { kind: "retry", at: now + 5 * second, notBefore: now + second });
  });

  test("whatever the header says, it is never more than a day nor less than nothing", () => {
    const header = fc.oneof(fc.string(), fc.integer().map(String), fc.date().map(String));
    fc.assert(
      fc.property(header, (text) => {
        const asks = retryAfterOf(text, now);
        assert.ok(asks >= 0 && asks <= day);
      }),
    );
  });
});

describe("the breaker", () => {
  const failures = (count: number, at: number, from: Breaker = healthy): Breaker =>
    Array.from({ length: count }).reduce<Breaker>((breaker) => afterFailure(breaker, at), from);
  const successes = (count: number, from: Breaker): Breaker =>
    Array.from({ length: count }).reduce<Breaker>((breaker) => afterSuccess(breaker), from);

  test("lets four at once to a healthy webhook, and opens at the tenth failure in a row", () => {
    assert.equal(requestsAtOnce, 4);
    assert.equal(limitOf(healthy, 0), 4);
    assert.equal(limitOf(failures(9, 0), 0), 4);
    assert.equal(limitOf(failures(10, 0), 0), 0);
  });

  test("a success in between begins the count anew", () => {
    const breaker = failures(9, 0, afterSuccess(failures(9, 0)));
    assert.equal(limitOf(breaker, 0), 4);
    assert.equal(limitOf(failures(1, 0, breaker), 0), 0);
  });

  test("lets one request probe after a second, then after pauses that double up to 15 s", () => {
    let at = 0;
    let breaker = failures(10, at);
    for (const pause of [1, 2, 4, 8, 15, 15]) {
      assert.equal(limitOf(breaker, at + pause * second - 1), 0, `${pause} s`);
      at += pause * second;
      assert.equal(limitOf(breaker, at), 1, `${pause} s`);
      breaker = afterFailure(breaker, at);
    }
  });

  test("what was under way when it opened does not put the probe off", () => {
    const open = failures(10, 0);
    assert.deepEqual(failures(3, 900, open), open);
  });

  test("lets two, then four at once when it answers again", () => {
    let breaker = afterSuccess(failures(10, 0));
    assert.equal(limitOf(breaker, 0), 2);
    breaker = successes(1, breaker);
    assert.equal(limitOf(breaker, 0), 2);
    breaker = successes(1, breaker);
    assert.equal(limitOf(breaker, 0), 4);
    breaker = successes(4, breaker);
    assert.deepEqual(breaker, healthy);
  });

  test("opens at the first failure while it is being let in again", () => {
    for (const count of [1, 2, 3, 4, 5, 6]) {
      const ramping = successes(count, failures(10, 0));
      const breaker = afterFailure(ramping, 5_000);
      assert.equal(limitOf(breaker, 5_999), 0, `after ${count}`);
      assert.equal(limitOf(breaker, 6_000), 1, `after ${count}`);
    }
    const whole = afterFailure(successes(7, failures(10, 0)), 5_000);
    assert.deepEqual(whole, { kind: "closed", failures: 1 });
  });

  test("never lets more than four, whatever comes", () => {
    const step = fc.record({ success: fc.boolean(), passes: fc.integer({ min: 0, max: 20_000 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        let breaker = healthy;
        let at = 0;
        for (const { success, passes } of steps) {
          at += passes;
          breaker = success ? afterSuccess(breaker) : afterFailure(breaker, at);
          const limit = limitOf(breaker, at);
          assert.ok([0, 1, 2, 4].includes(limit));
          // It is never shut for good: a probe may go within 15 s.
          assert.ok(limitOf(breaker, at + 15_000) > 0);
        }
      }),
    );
  });
});
