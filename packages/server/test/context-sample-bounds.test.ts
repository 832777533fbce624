// What the sample keeps of a context, and how much memory it takes, whatever is sent to it.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { EvaluationContext } from "@halyard/core/context";
import {
  createContextSample,
  maxTotalBytes,
  windowLength,
} from "../src/evaluation/context-sample-windows.ts";

const start = Date.UTC(2026, 10, 16, 12, 10);
const mebibyte = 1_048_576;
const newSample = (size: number, now = () => start) =>
  createContextSample({ size, secret: "fixed", clock: () => new Date(now()) });

const parsed = (text: string) => JSON.parse(text) as EvaluationContext;

suite("what is kept of a context", () => {
  const kept = async (context: EvaluationContext): Promise<unknown> => {
    const sample = newSample(10);
    sample.offer(1, context, false);
    return (await sample.view(1))?.contexts[0]?.context;
  };

  test("is the whole of a usual one", async () => {
    const usual = {
      targetingKey: "user-1",
      plan: "pro",
      age: 31,
      staff: false,
      region: null,
      roles: ["dev", "ops"],
      company: { id: 17, address: { city: "Kiel" } },
      "": "an empty name",
      name: "Ħ\u0000\u001f😀",
    };
    assert.deepEqual(await kept(usual), usual);
  });

  test("is what fits of a hostile one, and never more than 4 KiB of JSON", async () => {
    const long = "x".repeat(257);
    const deep = parsed(`${'{"a":'.repeat(30)}1${"}".repeat(30)}`);
    const hostile: readonly (readonly [EvaluationContext, object | undefined])[] = [
      [
        { targetingKey: "k", bio: long, [long]: 1, plan: "pro" },
        { targetingKey: "k", plan: "pro" },
      ],
      [{ targetingKey: long, plan: "pro" }, undefined],
      [{ targetingKey: "k", roles: ["a", long] }, { targetingKey: "k" }],
      [{ targetingKey: "k", roles: new Array(51).fill(1) }, { targetingKey: "k" }],
      [
        { ...deep, targetingKey: "k" },
        { targetingKey: "k", a: { a: { a: {} } } },
      ],
      [
        parsed('{"__proto__":{"plan":"pro"},"constructor":1,"targetingKey":"k"}'),
        parsed('{"__proto__":{"plan":"pro"},"constructor":1,"targetingKey":"k"}'),
      ],
    ];
    for (const [context, wanted] of hostile) {
      const seen = await kept(context);
      assert.deepEqual(seen, wanted);
      if (wanted) assert.deepEqual(Object.keys(seen ?? {}).sort(), Object.keys(wanted).sort());
    }
    const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`a${index}`, 1]));
    assert.equal(Object.keys((await kept({ ...many, targetingKey: "k" })) ?? {}).length, 50);
    const wide = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`a${index}`, "\u0001".repeat(256)]),
    );
    const text = JSON.stringify(await kept({ ...wide, targetingKey: "k" }));
    assert.ok(text.length <= 4_096, `${text.length}`);
  });

  test("stays within its bounds of memory, as accounted for and as the heap grows", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const heap = () => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const size = 10_000;
    /** Each differs from all others in its key, in its names and in its texts. */
    const hostileContext = (index: number): EvaluationContext => {
      const context: Record<string, unknown> = { targetingKey: `${"k".repeat(240)}${index}` };
      for (let nr = 0; nr < 20; nr += 1) {
        context[`${index}-${nr}-${"n".repeat(nr)}`] = nr % 5 === 0 ? { nr } : `Ħ${"v".repeat(240)}`;
      }
      return context;
    };
    const before = heap();
    let now = start;
    const sample = newSample(size, () => now);
    for (const window of [0, 1]) {
      now = start + window * windowLength;
      for (let index = 0; index < 900; index += 1) {
        const context = hostileContext(window * 900 + index);
        sample.offer(1, context, false);
        sample.offer(1, context, true);
      }
    }
    assert.ok(sample.bytes() > 15 * mebibyte, `${sample.bytes()} bytes: it is full`);
    assert.ok(sample.bytes() <= 16 * mebibyte, `${sample.bytes()} bytes of one environment`);
    const grown = heap() - before;
    assert.ok(
      grown < 1.25 * sample.bytes(),
      `${grown} bytes beside ${sample.bytes()} accounted for`,
    );

    for (let environmentId = 2; environmentId < 12; environmentId += 1) {
      for (let index = 0; index < 850; index += 1) {
        sample.offer(environmentId, hostileContext(index), false);
      }
      assert.ok(sample.bytes() <= maxTotalBytes, `${sample.bytes()} bytes of all environments`);
    }
    assert.ok(sample.bytes() > 0.8 * maxTotalBytes);
    const sizes = await Promise.all(
      Array.from(
        { length: 10 },
        async (_, nr) => (await sample.view(nr + 2))?.contexts.length ?? 0,
      ),
    );
    assert.ok(Math.min(...sizes) > 500, `each keeps its part: ${sizes.join(", ")}`);
    sample.close();
  });

  test("a flood of distinct keys costs little memory", () => {
    const sample = newSample(10_000);
    for (let index = 0; index < 300_000; index += 1) {
      sample.offer(1, { targetingKey: `flood-${index}` }, true);
    }
    // Less than there is room for: the number bounds it first.
    assert.ok(sample.bytes() < 10_000 * 200, `${sample.bytes()} bytes`);
    assert.equal(sample.part(1)?.clients.entries.length, 10_000);
    sample.close();
  });
});
