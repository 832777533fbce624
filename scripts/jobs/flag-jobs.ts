// Jobs with one flag: create it, release it to some, give it variants, find it.
import assert from "node:assert/strict";
import { named } from "./data.ts";
import type { Job } from "./job.ts";
import type { Person } from "./person.ts";

const dialogOf = ({ page }: Person) => page.getByRole("dialog");

/** From the list: search, then the first match. */
export const openFlag = async (person: Person, key: string): Promise<void> => {
  const { page } = person;
  await person.press("/", page.locator(":focus"));
  await person.type(key, page.getByText(/^\d+ of [\d,]+ flags$/));
  await person.press("Enter", page.getByRole("heading", { name: key, level: 1 }));
};

/** From anywhere: the palette, and a few words of the key, which may have a typo. */
export const goTo = async (person: Person, typed: string, key: string): Promise<void> => {
  const { page } = person;
  const field = page.getByRole("combobox", { name: "Flag, page, environment" });
  await person.press("ControlOrMeta+k", field.and(page.locator(":focus")));
  const first = page.getByRole("listbox", { name: "Results" }).getByRole("option").first();
  await person.type(typed, first.filter({ hasText: key }));
  await person.press("Enter", page.getByRole("heading", { name: key, level: 1 }));
};

const createAndUse: Job = {
  name: "create and use a flag",
  environment: "development",
  async work(person) {
    const { page } = person;
    const dialog = dialogOf(person);
    await person.press("c", dialog.getByLabel("Key").and(page.locator(":focus")));
    await person.type("gift-cards", dialog.getByRole("button", { name: "Create flag" }));
    await person.press("Enter", page.getByRole("heading", { name: "gift-cards", level: 1 }));
    const code = page.getByRole("region", { name: "In your code" });
    await person.click(code.getByRole("button", { name: "Copy" }).last(), code.getByText("Copied"));
    await person.press("e", page.getByRole("switch", { name: "On" }));
  },
  async check({ server, keys }) {
    const flag = await server.api(keys.development)("GET", "/flags/gift-cards");
    assert.partialDeepStrictEqual(flag.body, { enabled: true });
  },
};

const quarter: Job = {
  name: "25 % safely",
  environment: "production",
  async work(person) {
    const { page } = person;
    await openFlag(person, named.rollout);
    await person.press(
      "e",
      dialogOf(person)
        .getByText(/0\s%|nobody/i)
        .first(),
    );
    await person.click(
      dialogOf(person).getByRole("button", { name: "Change flag" }),
      page.getByRole("switch", { name: "On" }),
    );
    const percent = page.getByLabel("Percent of users");
    await person.click(percent, percent.and(page.locator(":focus")));
    await person.press("ControlOrMeta+a", percent);
    await person.type("25", page.getByRole("button", { name: "Save changes" }));
    await person.press("Enter", dialogOf(person).getByRole("button", { name: "Change flag" }));
    await person.click(
      dialogOf(person).getByRole("button", { name: "Change flag" }),
      page.getByRole("alert").getByText(/25\s%/),
    );
  },
  async check({ server, keys }) {
    const flag = await server.api(keys.production)("GET", `/flags/${named.rollout}`);
    assert.partialDeepStrictEqual(flag.body, { enabled: true, percentage: 25 });
  },
};

const staffOnly: Job = {
  name: "staff only",
  environment: "production",
  async work(person) {
    const { page } = person;
    await openFlag(person, named.staffOnly);
    const form = page.getByRole("form", { name: "Targeting" });
    const field = (label: string) => form.getByLabel(label).and(page.locator(":focus"));
    await person.click(page.getByRole("button", { name: "Add a rule" }), field("Attribute"));
    await person.type("email");
    await person.press("Tab", field("Comparison"));
    await person.type("ends");
    await person.press("Tab", field("Values"));
    await person.type("@acme.com");
    const others = form.getByRole("radio", { name: "off" });
    await person.click(others, form.getByRole("radio", { name: "off", checked: true }));
    const confirm = dialogOf(person).getByRole("button", { name: "Change flag" });
    await person.click(page.getByRole("button", { name: "Save targeting" }), confirm);
    await person.click(confirm, async () => {
      await page.getByRole("alert").first().waitFor();
      await dialogOf(person).waitFor({ state: "detached" });
    });
    await person.press("e", confirm);
    await person.click(confirm, page.getByRole("switch", { name: "On" }));
  },
  async check({ server, keys }) {
    const flag = await server.api(keys.production)("GET", `/flags/${named.staffOnly}`);
    const when = { attribute: "email", op: "endsWith", values: ["@acme.com"] };
    const rules = [{ when, serve: "on" }];
    assert.partialDeepStrictEqual(flag.body, { enabled: true, otherwise: "off", rules });
  },
};

const shares = [
  ["control", "50"],
  ["short", "30"],
  ["long", "20"],
] as const;

const threeVariants: Job = {
  name: "three variants",
  environment: "development",
  async work(person) {
    const { page } = person;
    const form = dialogOf(person);
    await person.press("c", form.getByLabel("Key").and(page.locator(":focus")));
    await person.type("checkout-length");
    await person.click(
      form.getByRole("radio", { name: /variant/ }),
      form.getByRole("button", { name: "Add variant" }),
    );
    await person.click(
      form.getByRole("button", { name: "Add variant" }),
      form.getByLabel("Variant", { exact: true }).nth(2),
    );
    const focused = page.locator(":focus");
    const variant = (index: number) => form.getByLabel("Variant", { exact: true }).nth(index);
    for (const [index, [name]] of shares.entries()) {
      // With Tab, past the button that removes the one before.
      if (index === 0) {
        await person.click(variant(0), variant(0).and(focused));
        await person.press("ControlOrMeta+a", variant(0));
      } else await person.press("Tab Tab ControlOrMeta+a", variant(index).and(focused));
      await person.type(name);
      await person.press("Tab", form.getByLabel(`Value of ${name}`).and(focused));
      await person.type(name);
    }
    const split = page.getByRole("option", { name: "a split by percentage" });
    const share = (name: string) => form.getByLabel(`Percent of users: ${name}`);
    await person.click(form.getByRole("combobox", { name: "While on" }), split);
    await person.click(split, share("control"));
    // The last one gets what is left.
    await person.click(share("control"), share("control").and(focused));
    await person.press("ControlOrMeta+a", share("control"));
    await person.type("50");
    await person.press("Tab Tab ControlOrMeta+a", share("short").and(focused));
    await person.type("30");
    await person.click(
      form.getByRole("button", { name: "Create flag" }),
      page.getByRole("heading", { name: "checkout-length", level: 1 }),
    );
    await person.press("e", page.getByRole("switch", { name: "On" }));
  },
  async check({ server, keys }) {
    const flag = await server.api(keys.development)("GET", "/flags/checkout-length");
    assert.partialDeepStrictEqual(flag.body, {
      enabled: true,
      otherwise: shares.map(([variant, share]) => ({ variant, share: Number(share) })),
    });
  },
};

const find: Job = {
  name: "find among 5,000",
  environment: "production",
  async work(person) {
    const { page } = person;
    await person.press("/", page.locator(":focus"));
    await person.type("passport upload v2", page.getByText(/^1 of [\d,]+ flags$/));
    await person.press("Enter", page.getByRole("heading", { name: named.found, level: 1 }));
  },
};

const findWithTypo: Job = {
  name: "find among 5,000, with a typo",
  environment: "production",
  async work(person) {
    await goTo(person, "pasport upload v2", named.found);
  },
};

export const flagJobs: readonly Job[] = [
  createAndUse,
  quarter,
  staffOnly,
  threeVariants,
  find,
  findWithTypo,
];
