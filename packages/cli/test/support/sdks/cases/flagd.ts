// flagd: return values of its SDK.
import type { Case, Json } from "./case.ts";

const flagdOf = (targeting: Json) => ({
  flags: {
    flag: {
      state: "ENABLED",
      variants: { true: true, false: false },
      defaultVariant: "true",
      targeting,
    },
  },
});
const client = (attributes: Json, value: unknown) => {
  const context = { targetingKey: "anna", ...attributes };
  return [context, context, value] as const;
};
const ofFlagd = { product: "flagd", flag: "flag" } as const;
const variable = (name: string) => ({ var: name });

export const flagdCases: readonly Case[] = [
  {
    ...ofFlagd,
    what: "a comparison with a number",
    document: flagdOf({ "!=": [variable("age"), 18] }),
    note: "exact only if age is a number",
    people: [client({ age: 17 }, true), client({ age: 18 }, false), client({}, true)],
  },
  {
    ...ofFlagd,
    what: "missing attributes",
    document: flagdOf({ if: [{ missing: ["plan"] }, "false", "true"] }),
    note: "exact only if plan is never null",
    people: [client({}, false), client({ plan: "pro" }, true), client({ plan: "" }, true)],
  },
];
