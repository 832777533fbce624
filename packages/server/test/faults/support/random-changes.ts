// Changes at random of the flags and segments of an environment: rules, requirements, members, creation and deletion.
import assert from "node:assert/strict";
import type { Api } from "../../support/api.ts";
import type { Random } from "./seeded-random.ts";

const flagKeys = Array.from({ length: 16 }, (_, index) => `flag-${index}`);
const segmentKeys = ["beta", "staff", "pro", "blocked"];
const people = Array.from({ length: 40 }, (_, index) => `user-${index}`);
const plans = ["free", "pro", "team"];

export const createRandomChanges = (admin: Api, random: Random) => {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const some = <T>(list: readonly T[], most: number): T[] => [
    ...new Set(Array.from({ length: 1 + random(most) }, () => pick(list))),
  ];
  /** What is there, by type; segments apart. */
  const flags = new Map<string, "boolean" | "rollout" | "variant">();
  const segments = new Set<string>();

  const condition = (): object => {
    const attribute = { attribute: "plan", op: pick(["in", "notIn"]), values: some(plans, 2) };
    if (segments.size === 0 || random(3) === 0) return attribute;
    const named = { segment: some([...segments], 2) };
    return pick([named, { not: named }, { any: [named, attribute] }, { all: [attribute, named] }]);
  };
  const split = (on: string, off: string): unknown => {
    const share = 1 + random(99);
    const parts = [
      { variant: on, share },
      { variant: off, share: 100 - share },
    ];
    return pick<unknown>([on, off, parts]);
  };
  const namesOf = (type: string): readonly [string, string] =>
    type === "variant" ? ["large", "small"] : ["on", "off"];
  const rules = (type: string) =>
    Array.from({ length: 1 + random(3) }, () => ({
      when: condition(),
      serve: split(...namesOf(type)),
    }));
  /** Only of flags before it, so that there is no circle. */
  const requires = (key: string) => {
    const earlier = flagKeys.slice(0, flagKeys.indexOf(key)).filter((each) => flags.has(each));
    if (earlier.length === 0) return [];
    return some(earlier, 2).map((flag) => ({
      flag,
      variant: pick(namesOf(flags.get(flag) ?? "boolean")),
    }));
  };

  const createFlag = async (key: string) => {
    const type = pick(["boolean", "rollout", "variant"] as const);
    const own = {
      boolean: { rules: rules(type), otherwise: pick(["on", "off"]) },
      rollout: { percentage: random(101) },
      variant: {
        valueType: "string",
        variants: { small: "S", large: "L" },
        off: "small",
        otherwise: split("large", "small"),
      },
    }[type];
    const made = await admin("POST", "/flags", { key, type, ...own });
    if (made.status === 201) flags.set(key, type);
    return made;
  };
  const patchFlag = (key: string) => {
    const type = flags.get(key) ?? "boolean";
    const patch = pick<() => object>([
      () => ({ enabled: random(4) > 0 }),
      () => ({ enabled: true }),
      () => (type === "rollout" ? { percentage: random(101) } : { otherwise: pick(namesOf(type)) }),
      () => ({ rules: rules(type) }),
      () => ({ requires: requires(key) }),
      () => ({ bucketBy: pick([null, "company"]) }),
    ]);
    return admin("PATCH", `/flags/${key}`, patch());
  };
  const deleteFlag = async (key: string) => {
    const gone = await admin("DELETE", `/flags/${key}`);
    if (gone.status === 204) flags.delete(key);
    return gone;
  };

  const changeSegment = async (key: string) => {
    if (!segments.has(key)) {
      const made = await admin("POST", "/segments", { key, include: some(people, 5) });
      if (made.status === 201) segments.add(key);
      return made;
    }
    const plan = { attribute: "plan", op: "in", values: some(plans, 2) };
    switch (random(5)) {
      case 0: {
        const gone = await admin("DELETE", `/segments/${key}`);
        if (gone.status === 204) segments.delete(key);
        return gone;
      }
      case 1:
        return admin("PATCH", `/segments/${key}`, { when: pick([null, plan]) });
      case 2:
        return admin("PATCH", `/segments/${key}`, { include: some(people, 6) });
      default: {
        const lists = () => ({ add: some(people, 4), remove: some(people, 4) });
        const distinct = ({ add, remove }: ReturnType<typeof lists>) => ({
          add,
          remove: remove.filter((each) => !add.includes(each)),
        });
        const changes = { include: distinct(lists()), exclude: distinct(lists()) };
        return admin("POST", `/segments/${key}/members`, changes);
      }
    }
  };

  return {
    /** One request; it may be refused or change nothing. */
    async change(): Promise<void> {
      const key = pick(flagKeys);
      const answer =
        random(3) === 0
          ? await changeSegment(pick(segmentKeys))
          : !flags.has(key)
            ? await createFlag(key)
            : random(8) === 0
              ? await deleteFlag(key)
              : await patchFlag(key);
      // Refused is what others name, and what would leave a flag without what it needs.
      assert.ok([200, 201, 204, 400, 409].includes(answer.status), answer.text);
    },
    flagKey: () => pick(flagKeys),
    context: () => ({
      ...(random(10) > 0 && { targetingKey: pick(people) }),
      ...(random(5) > 0 && { plan: pick(plans) }),
      ...(random(2) > 0 && { company: `company-${random(9)}` }),
    }),
  };
};
