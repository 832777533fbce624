// Previews against the truth: random traffic, random changes, and a sample much smaller than the traffic. The true share is that of
// everybody who was seen, evaluated on what the server has before and after.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { evaluate, unknownFlag } from "@halyard/core/evaluate";
import { type Flag, levelOf } from "@halyard/core/flags/registry";
import { intervalOf } from "@halyard/core/preview/interval";
import { compileSide } from "@halyard/core/preview/side";
import { type Segment, type SegmentTestable, stateOf } from "@halyard/core/targeting/segment";
import type { Api } from "./api.ts";
import { askPreview } from "./preview.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./server.ts";
import { reportTraffic, sendTraffic } from "./traffic.ts";

/** All is the same in every run, so that a small one need not allow for chance. */
export const testPreviewTruth = ({
  population,
  sampled,
  changes,
  asked,
  mostOutside,
}: {
  readonly population: number;
  readonly sampled: number;
  readonly changes: number;
  readonly asked: number;
  readonly mostOutside: number;
}): void => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({
      HALYARD_CONTEXT_SAMPLE: String(sampled),
      HALYARD_RATE_LIMIT: "0",
      // The sample is chosen by it: the same in every run.
      HALYARD_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"),
    });
  });
  after(() => server.close());

  /** The same numbers in every run (mulberry32). */
  const randomFrom = (seed: number) => {
    let state = seed;
    return (below: number): number => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
    };
  };
  const random = randomFrom(20_261_116);
  const oneOf = <T>(values: readonly [T, ...T[]]): T => values[random(values.length)] ?? values[0];

  const plans = ["free", "pro", "team", "free", "free"] as const;
  const countries = ["DE", "FR", "US", "JP", "BR", "IN", "US"] as const;
  const contexts = Array.from({ length: population }, (_, index) => ({
    targetingKey: `person-${index}`,
    plan: oneOf(plans),
    country: oneOf(countries),
    age: 10 + random(80),
  }));

  const condition = (): object => {
    // Segments often: a change of one is to reach somebody.
    switch (random(8)) {
      case 0:
        return { attribute: "plan", op: oneOf(["in", "notIn"]), values: [oneOf(plans)] };
      case 1:
        return { attribute: "country", op: "in", values: [oneOf(countries), "XX"] };
      case 2:
        return { attribute: "age", op: oneOf(["lt", "gte"]), value: 10 + random(80) };
      case 3:
      case 4:
      case 5:
      case 6:
        return { segment: [oneOf(["staff", "beta"])] };
      default:
        return { not: { attribute: "country", op: "in", values: [oneOf(countries)] } };
    }
  };
  const serve = (): unknown =>
    random(2) === 0 ? oneOf(["on", "off"]) : [{ variant: "on", share: 1 + random(99) }];
  const rules = () =>
    Array.from({ length: 1 + random(3) }, (_, index) => ({
      id: `rule-${index}`,
      when: random(2) === 0 ? condition() : { all: [condition(), condition()] },
      serve: serve(),
    }));

  const flagPatch = (): object => {
    switch (random(4)) {
      case 0:
        return { percentage: random(101) };
      case 1:
        return { rules: rules() };
      case 2:
        return { percentage: random(101), rules: random(2) === 0 ? null : rules() };
      default:
        return { enabled: random(4) > 0, percentage: random(101) };
    }
  };
  const flags = ["one", "two", "three"] as const;
  const segmentKeys = ["staff", "beta"] as const;

  /** One change: where it is previewed, and how it is made. */
  const nextChange = () => {
    if (random(2) > 0) {
      const [key, patch] = [oneOf(flags), flagPatch()];
      return { preview: `/flags/${key}/preview`, body: { patch }, path: `/flags/${key}`, patch };
    }
    const key = oneOf(["staff", "beta"]);
    const include = Array.from(
      { length: random(population / 10) },
      () => `person-${random(population)}`,
    );
    const when = { attribute: "age", op: oneOf(["lt", "gte"]), value: 10 + random(80) };
    const patch = { when: random(3) === 0 ? null : when, include: [...new Set(include)] };
    return {
      preview: `/segments/${key}/preview`,
      body: { patch },
      path: `/segments/${key}`,
      patch,
    };
  };

  const setUp = async ({ admin }: TestEnvironment): Promise<void> => {
    const make = async (method: string, path: string, body: object) => {
      const answer = await admin(method, path, body);
      assert.ok(answer.status < 300, answer.text);
    };
    for (const key of segmentKeys) await make("POST", "/segments", { key, include: [] });
    for (const key of flags) {
      await make("POST", "/flags", { key, type: "rollout", percentage: 30 });
      await make("PATCH", `/flags/${key}`, { enabled: true });
    }
    // So that a change of a segment reaches flags from the first one on, and of a flag another flag.
    const named = (segment: string) => [{ id: segment, when: { segment: [segment] }, serve: "on" }];
    await make("PATCH", "/flags/one", { rules: named("staff") });
    await make("PATCH", "/flags/two", { rules: named("beta") });
    await make("PATCH", "/flags/three", { requires: [{ flag: "two", variant: "on" }] });
  };

  /** What a flag that the preview does not name stands for. */
  const nobody = intervalOf(0, sampled) ?? assert.fail();

  /** What everybody gets, flag by flag, as programs that evaluate locally know it. */
  const everybody = async (admin: Api): Promise<readonly (readonly unknown[])[]> => {
    const all = (await admin("GET", "/flags")).body as readonly Flag[];
    const segments = new Map<string, SegmentTestable>();
    for (const key of segmentKeys) {
      segments.set(key, stateOf((await admin("GET", `/segments/${key}`)).body as Segment));
    }
    const flagOf = compileSide({
      flag(key) {
        const flag = all.find((each) => each.key === key);
        return flag && { flag, level: levelOf(flag) };
      },
      segment: (key) => segments.get(key),
    });
    const prepared = flags.map((key) => flagOf(key) ?? unknownFlag);
    return contexts.map((context) =>
      prepared.map((flag) => {
        const result = evaluate(flag, context);
        return "value" in result ? result.value : result.errorCode;
      }),
    );
  };

  const make = async (admin: Api, path: string, patch: object): Promise<boolean> => {
    const { status, text } = await admin("PATCH", path, patch);
    assert.equal(status, 200, text);
    return true;
  };

  test(`the true share lies within the interval of the preview in at least 95 of 100 changes (${changes} changes, ${sampled} of ${population} people)`, async (t) => {
    const environment = await server.environment();
    const { admin, keys } = environment;
    await setUp(environment);
    await reportTraffic(server.url, keys.server, "one", contexts);
    let values = await everybody(admin);
    const outside: string[] = [];
    let [compared, flipping] = [0, 0];
    for (let count = 0; count < changes; count += 1) {
      const { preview: path, body, path: target, patch } = nextChange();
      const preview = await askPreview(admin, path, body);
      assert.equal(preview.sample?.contexts, sampled);
      assert.equal(preview.unknown, 0);
      await make(admin, target, patch);
      const [then, now] = [values, await everybody(admin)];
      values = now;
      const compare = (
        what: string,
        { low, high }: { readonly low: number | null; readonly high: number | null },
        isFlip: (person: number) => boolean,
      ): void => {
        const share = (100 * contexts.filter((_, person) => isFlip(person)).length) / population;
        compared += 1;
        if (share > 0) flipping += 1;
        if (low !== null && high !== null && share >= low - 0.005 && share <= high + 0.005) return;
        outside.push(`${what}: ${share} not in ${low} to ${high}: ${JSON.stringify(body)}`);
      };
      const isFlipOf = (flag: number) => (person: number) =>
        then[person]?.[flag] !== now[person]?.[flag];
      compare("all", preview, (person) => flags.some((_, flag) => isFlipOf(flag)(person)));
      for (const [index, key] of flags.entries()) {
        const told = preview.flags.find((flag) => flag.key === key) ?? nobody;
        // What says that it changes for nobody is compared where it is wrong.
        if (told !== nobody || contexts.some((_, person) => isFlipOf(index)(person))) {
          compare(key, told, isFlipOf(index));
        }
      }
    }
    const some = contexts.slice(0, asked);
    for (const [index, flag] of flags.entries()) {
      const answered = await sendTraffic(server.url, keys.server, flag, some);
      assert.deepEqual(
        answered,
        some.map((_, person) => values[person]?.[index]),
      );
    }
    t.diagnostic(
      `${compared - outside.length} of ${compared} within, of ${changes} changes and their flags; ${flipping} flip somebody`,
    );
    assert.ok(outside.length <= compared * mostOutside, outside.join("\n"));
    assert.ok(flipping > changes, String(flipping));
  });
};
