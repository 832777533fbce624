// A flag that is off does not look on; those who cannot edit read text with enough contrast instead of disabled inputs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { testBrowser } from "./support/browser.ts";
import { openAs, seedFlags } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const schemes = ["light", "dark"] as const;
const use = async (page: Page, colorScheme: (typeof schemes)[number]): Promise<void> => {
  await page.emulateMedia({ colorScheme });
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
};

/**
 * The contrast of each text in the main part of a page that is not for a person to fill in, by WCAG 2.2, disabled controls
 * included: axe exempts those. Opacity counts.
 */
const contrasts = (page: Page) =>
  page.evaluate(() => {
    const channels = (color: string): [number, number, number, number] => {
      const [r = 0, g = 0, b = 0, a = 1] = (color.match(/[\d.]+/g) ?? []).map(Number);
      return [r, g, b, a];
    };
    const over = (top: number[], below: number[], alpha: number) =>
      below.map((channel, index) => alpha * (top[index] ?? 0) + (1 - alpha) * channel);
    const luminance = (color: number[]) => {
      const [r = 0, g = 0, b = 0] = color.map((channel) => {
        const part = channel / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const lineOf = (element: Element | null): Element[] =>
      element === null ? [] : [...lineOf(element.parentElement), element];
    const ratioOf = (element: Element) => {
      let background = [255, 255, 255];
      let opacity = 1;
      for (const each of lineOf(element)) {
        const style = getComputedStyle(each);
        opacity *= Number(style.opacity);
        const [r, g, b, a] = channels(style.backgroundColor);
        background = over([r, g, b], background, a * opacity);
      }
      const [r, g, b, a] = channels(getComputedStyle(element).color);
      const text = luminance(over([r, g, b], background, a * opacity));
      const behind = luminance(background);
      return (Math.max(text, behind) + 0.05) / (Math.min(text, behind) + 0.05);
    };
    const valueIn = (element: Element): string =>
      element.matches("[type=radio], [type=checkbox]") ? "" : (element as HTMLInputElement).value;
    const hasText = (element: Element) =>
      valueIn(element) ||
      [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim());
    return [...document.querySelectorAll("main *")]
      .filter(
        (element) => element.checkVisibility() && !element.closest(".visually-hidden, option"),
      )
      .filter(hasText)
      .map((element) => ({
        text: valueIn(element) || element.textContent || "",
        ratio: Math.round(ratioOf(element) * 100) / 100,
      }));
  });

test("the slider of a disabled flag has no bright bar, and a label explains when its percentage applies", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [{ key: "full", type: "rollout", percentage: 100, enabled: true }]);
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/full");
  const bar = () =>
    page
      .locator(".mantine-Slider-bar")
      .evaluate((element) => getComputedStyle(element).backgroundColor);
  await page.locator(".mantine-Slider-bar").waitFor();
  assert.match(await bar(), /^rgb\(/);
  await page.getByRole("switch").first().press("Space");
  await page.getByLabel("Percent of users when on").waitFor();
  for (const scheme of schemes) {
    await use(page, scheme);
    assert.equal(await bar(), "rgba(0, 0, 0, 0)", scheme);
  }
});

test("a viewer has no disabled input, and every text has a contrast of at least 4.5:1", async (t) => {
  const { keys, admin, name } = await server.environment();
  const when = { attribute: "plan", op: "in", values: ["pro"] };
  await admin("POST", "/segments", { key: "beta", when, include: ["a"], description: "Beta" });
  await seedFlags(admin, [{ key: "other", type: "boolean" }]);
  await admin("POST", "/flags", {
    ...{ key: "ruled", type: "rollout", percentage: 25, tags: ["shop"], owner: "team" },
    ...{ rules: [{ id: "staff", when, serve: "on" }], description: "The new checkout" },
    requires: [{ flag: "other", variant: "on" }],
  });
  await admin("POST", "/flags", {
    ...{ key: "color", type: "variant", valueType: "string", off: "red", otherwise: "blue" },
    variants: { red: "#f00", blue: "#00f" },
  });
  const made = await admin("POST", "/webhooks", { url: "https://example.com/a", events: ["*"] });
  const { id } = made.body as { id: string };
  const { page } = await openAs(browser, t, server.url, [keys.server], "/flags", {
    expected: [/404 \(Not Found\)/],
  });
  const pages = [
    ["/flags", "ruled"],
    ["/flags/ruled", "The new checkout"],
    ["/flags/color", 'red = "#f00"'],
    ["/segments/beta", "plan is pro"],
    [`/webhooks/${id}`, "all events"],
    ["/environments", "For owners only"],
  ] as const;
  for (const [path, shown] of pages) {
    await page.goto(`/environments/${name}${path}`);
    await page.getByRole("main").getByText(shown).first().waitFor();
    const disabled = page.locator("main :is(input, textarea, select):is(:disabled, [readonly])");
    assert.equal(await disabled.count(), 0, path);
    for (const scheme of schemes) {
      await use(page, scheme);
      const found = await contrasts(page);
      const worst = found.toSorted((one, other) => one.ratio - other.ratio)[0];
      t.diagnostic(`${path}, ${scheme}: ${found.length} texts, lowest ${worst?.ratio}:1`);
      assert.ok(
        found.length > 2 && worst !== undefined && worst.ratio >= 4.5,
        JSON.stringify(worst),
      );
    }
  }
});
