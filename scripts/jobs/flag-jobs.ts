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

const staffRule = `{"otherwise":"off","rules":[{"when":{"attribute":"email","op":"endsWith","values":["@acme.com"]},"serve":"on"}]}`;

const staffOnly: Job = {
  name: "staff only",
  environment: "production",
  async work(person) {
    const { page } = person;
    await openFlag(person, named.staffOnly);
    const text = page.getByLabel("as JSON");
    await person.click(page.getByRole("button", { name: "Add a rule" }), text);
    await person.click(text, text.and(page.locator(":focus")));
    await person.press("ControlOrMeta+a", text);
    await person.type(staffRule, page.getByRole("button", { name: "Save targeting" }));
    const confirm = dialogOf(person).getByRole("button", { name: "Change flag" });
    await person.click(page.getByRole("button", { name: "Save targeting" }), confirm);
    await person.click(confirm, page.getByRole("alert").first());
    await person.press("e", confirm);
    await person.click(confirm, page.getByRole("switch", { name: "On" }));
  },
  async check({ server, keys }) {
    const flag = await server.api(keys.production)("GET", `/flags/${named.staffOnly}`);
    assert.partialDeepStrictEqual(flag.body, { enabled: true, otherwise: "off" });
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
    for (const [index, [name]] of shares.entries()) {
      const input = form.getByLabel("Variant", { exact: true }).nth(index);
      await person.click(input, input.and(page.locator(":focus")));
      await person.press("ControlOrMeta+a", input);
      await person.type(name);
      await person.press("Tab", form.getByLabel(`Value of ${name}`).and(page.locator(":focus")));
      await person.type(name);
    }
    const split = page.getByRole("option", { name: "a split by percentage" });
    await person.click(form.getByRole("combobox", { name: "While on" }), split);
    await person.click(split, form.getByLabel("Percent of users: control"));
    for (const [name, share] of shares) {
      const input = form.getByLabel(`Percent of users: ${name}`);
      await person.click(input, input.and(page.locator(":focus")));
      await person.press("ControlOrMeta+a", input);
      await person.type(share);
    }
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
    const { page } = person;
    await person.press("/", page.locator(":focus"));
    await person.type("pasport upload v2", page.getByRole("heading", { name: "No flags match" }));
    await person.press("ControlOrMeta+a", page.locator(":focus"));
    await person.type("passport upload v2", page.getByText(/^1 of [\d,]+ flags$/));
    await person.press("Enter", page.getByRole("heading", { name: named.found, level: 1 }));
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
