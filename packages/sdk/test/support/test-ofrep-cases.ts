// The published cases of targeting, over OFREP from a started server.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Flag } from "@halyard/sdk";
import { createManagement, type NewFlag } from "@halyard/sdk/management";
import { startTestServer } from "../../../server/test/support/server.ts";
import { type Case, type Group, groups } from "./targeting-cases.ts";

interface Size {
  /** Of so many groups, one is checked. */
  readonly every: number;
  /** Cases that are checked. */
  readonly least: number;
}

/** Those that are required come first. */
const inOrder = (flags: readonly Flag[]): readonly Flag[] => {
  const ordered = new Set<Flag>();
  const put = (flag: Flag, above: readonly Flag[] = []): void => {
    if (above.includes(flag)) return;
    for (const required of flag.requires ?? []) {
      const found = flags.find(({ key }) => key === required.flag);
      if (found !== undefined) put(found, [...above, flag]);
    }
    ordered.add(flag);
  };
  for (const flag of flags) put(flag);
  return [...ordered];
};

/** The protocol has fewer reasons: ours is in the metadata where they differ. */
const shown = (body: Record<string, unknown>): Case["expected"] => {
  const { value, variant, reason, metadata, errorCode } = body;
  if (typeof errorCode === "string") return { errorCode };
  const { rule, reason: own } = (metadata ?? {}) as { rule?: string; reason?: string };
  const result = { value, variant, reason: own ?? reason, ...(rule !== undefined && { rule }) };
  return result as Case["expected"];
};

export const testOfrepCases = ({ every, least }: Size): void => {
  test("cases over OFREP", { timeout: 1_800_000 }, async (t) => {
    const server = await startTestServer();
    t.after(() => server.close());
    const refused: string[] = [];
    let cases = 0;

    const checkGroup = async ({ name, flags, segments, cases: each }: Group) => {
      const { keys } = await server.environment();
      const management = createManagement({ url: server.url, key: keys.admin });
      for (const segment of segments) {
        const made = await management.segments.create(segment);
        assert.ok(made.ok, JSON.stringify(made));
      }
      const there = new Set<string>();
      for (const { enabled, ...flag } of inOrder(flags)) {
        const made = await management.flags.create(flag as NewFlag);
        if (!made.ok) {
          refused.push(`${name}: ${flag.key}: ${made.error.message}`);
          continue;
        }
        there.add(flag.key);
        if (enabled) await management.flags.update(flag.key, { enabled });
      }
      for (const { flag, context, expected } of each.filter((one) => there.has(one.flag))) {
        const response = await fetch(`${server.url}/ofrep/v1/evaluate/flags/${flag}`, {
          method: "POST",
          headers: { authorization: `Bearer ${keys.server}`, "content-type": "application/json" },
          body: JSON.stringify({ context }),
        });
        const body = (await response.json()) as Record<string, unknown>;
        // The protocol wants a text as targetingKey; the client takes anything else as none.
        if (body.errorCode === "INVALID_CONTEXT") continue;
        assert.deepEqual(shown(body), expected, `${name}: ${flag} ${JSON.stringify(context)}`);
        cases += 1;
      }
    };

    for (const group of groups.filter((_, index) => (index + 1) % every === 0))
      await checkGroup(group);
    t.diagnostic(`${cases} cases`);
    // A server takes no flag that names what is not there.
    assert.deepEqual(
      refused.filter((each) => !/there is no "/.test(each)),
      [],
    );
    assert.ok(cases >= least, String(cases));
  });
};
