// The published cases of targeting, and the check of a client against them.
import { readFileSync } from "node:fs";
import type { createClient, EvaluationContext, Flag, FlagValue } from "@halyard/sdk";
import type { Segment } from "@halyard/sdk/management";

export interface Case {
  readonly flag: string;
  readonly context: EvaluationContext;
  readonly expected:
    | {
        readonly value: FlagValue;
        readonly variant: string;
        readonly reason: string;
        readonly rule?: string;
      }
    | { readonly errorCode: string };
}

export interface Group {
  readonly name: string;
  readonly flags: readonly Flag[];
  readonly segments: readonly Segment[];
  readonly cases: readonly Case[];
}

export const casesFile = new URL("../../../../conformance/targeting.json", import.meta.url);
export const { groups } = JSON.parse(readFileSync(casesFile, "utf8")) as {
  readonly groups: readonly Group[];
};

/** A client without a server for each group. Runs as it stands here in a page too: it uses nothing of this file. */
export const checkGroups = (create: typeof createClient, all: readonly Group[]) => {
  const differences: object[] = [];
  let cases = 0;
  for (const { name, flags, segments, cases: each } of all) {
    const client = create({
      bootstrap: {
        flags: flags.map((flag) => ({ flag, level: 2 })),
        segments: segments.map((segment) => ({ segment })),
      },
    });
    for (const { flag, context, expected } of each) {
      const fallbacks: FlagValue[] = [false, "", 0, {}];
      const [first] = fallbacks
        .map((fallback) => client.details(flag, context, fallback))
        .filter(({ errorCode }) => errorCode !== "TYPE_MISMATCH");
      const found = first ?? {};
      const wanted =
        "errorCode" in expected ? { value: false, reason: "ERROR", ...expected } : expected;
      const shown = ({ value, variant, reason, rule, errorCode }: Record<string, unknown>) =>
        JSON.stringify([value, variant, reason, rule, errorCode]);
      if (shown({ ...found }) !== shown({ ...wanted })) {
        differences.push({ name, flag, context, found, expected });
      }
      cases += 1;
    }
    void client.close();
  }
  return { cases, differences: differences.slice(0, 10) };
};
