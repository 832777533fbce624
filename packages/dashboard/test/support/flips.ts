// What the page says of a change before it is made, and traffic that it is counted over.
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import type { Api } from "../../../server/test/support/api.ts";
import type { SignedIn } from "../../../server/test/support/people.ts";
import type { TestServer } from "../../../server/test/support/server.ts";
import { dialog, seedFlags, until } from "./flags.ts";

/** Spaces that do not break are spaces. */
export const says = (place: Locator, pattern: RegExp): Promise<void> =>
  until(async () => {
    const text = await place.locator(".flips-headline").textContent();
    assert.match((text ?? "").replaceAll(/\s/g, " "), pattern);
  });

export const flips = (page: Page) => page.getByRole("group", { name: "Whom this changes" });
export const inDialog = (page: Page) =>
  dialog(page).getByRole("group", { name: "Whom this changes" });

/** Forty people, ten of them with the plan pro, none with a country. */
export const visit = async (api: Api): Promise<void> => {
  for (let number = 1; number <= 40; number += 1) {
    const context = { targetingKey: `user-${number}`, plan: number <= 10 ? "pro" : "free" };
    const answer = await api("POST", "//ofrep/v1/evaluate/flags", { context });
    assert.equal(answer.status, 200, answer.text);
  }
};

export const limit = async (
  owner: SignedIn,
  environment: string,
  maxFlips: number | null,
): Promise<void> => {
  const done = await owner.in(environment)("PATCH", `/environments/${environment}`, { maxFlips });
  assert.equal(done.status, 200, done.text);
};

/** Flags in the environment production, and its traffic. */
export const seedProduction = async (server: TestServer): Promise<Api> => {
  const key = server.firstKeys.find(({ environment }) => environment === "production")?.text;
  const production = server.api(key ?? "");
  await seedFlags(production, [
    { key: "banner", type: "boolean" },
    { key: "checkout", type: "boolean", enabled: true },
    { key: "search", type: "boolean" },
    { key: "shipping", type: "rollout", percentage: 25, enabled: true },
  ]);
  await production("POST", "/segments", { key: "testers", include: ["user-1"] });
  await production("PATCH", "/flags/checkout", {
    otherwise: "off",
    rules: [
      { id: "testers", when: { segment: ["testers"] }, serve: "on" },
      { id: "pro", when: { attribute: "plan", op: "in", values: ["pro"] }, serve: "off" },
    ],
  });
  await visit(production);
  return production;
};
