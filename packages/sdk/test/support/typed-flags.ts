// Flags of every type with a rule, and what each gives, for tests of the providers and of the page's client.
import type { Api } from "../../../server/test/support/api.ts";

const inPlan = (plan: string) => ({ attribute: "plan", op: "in", values: [plan] });

/** On a started server: `on` is a boolean, the others give the large variant to the plan "pro". */
export const makeTypedFlags = async (admin: Api): Promise<void> => {
  const rules = [{ id: "pro", when: inPlan("pro"), serve: "large" }];
  const variant = { type: "variant", off: "small", otherwise: "small", rules };
  const flags = [
    { key: "on", type: "boolean" },
    { ...variant, key: "size", valueType: "string", variants: { small: "S", large: "L" } },
    { ...variant, key: "limit", valueType: "number", variants: { small: 1, large: 9 } },
    {
      ...variant,
      key: "layout",
      valueType: "object",
      variants: { small: { columns: 1 }, large: { columns: 3 } },
    },
    { key: "needs", type: "boolean", requires: [{ flag: "size", variant: "large" }] },
  ];
  for (const flag of flags) {
    const made = await admin("POST", "/flags", flag);
    if (made.status !== 201) throw new Error(made.text);
    await admin("PATCH", `/flags/${flag.key}`, { enabled: true });
  }
};
