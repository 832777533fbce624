// Holds a page against the rules of accessibility with axe-core.
import assert from "node:assert/strict";
import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

/** How a visit must be made for `audit`. */
export const audited = { bypassCSP: true } as const;

interface Rules {
  readonly runOnly: unknown;
  /** So many find something to look at, on any page. */
  readonly atLeast: number;
}
const allRules: Rules = {
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
  atLeast: 6,
};
/** What depends on colours; the rest of a page is the same in both schemes. */
const colours = ["color-contrast", "link-in-text-block"];
const colourRules: Rules = { runOnly: { type: "rule", values: colours }, atLeast: 1 };

const modal = "[role=dialog][aria-modal=true]";

/** Fails on every finding, of whatever impact. */
const auditPage = async (page: Page, what: string, { atLeast, ...rules }: Rules): Promise<void> => {
  // A page that is still being loaded has none of what it is audited for.
  await page.locator("h1").first().waitFor({ state: "attached" });
  // What is still fading in has colours that nobody gets to read.
  await page.waitForFunction(
    `document.getAnimations().every(({ playState, effect }) =>
      playState !== "running" || effect?.getComputedTiming().iterations === Infinity)`,
  );
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe.source);
  // Behind a modal dialog nothing is reached; the page without it has an audit of its own.
  const results = (await page.evaluate(
    `axe.run(document.querySelector("${modal}") ? "${modal}" : document, ${JSON.stringify({ ...rules, resultTypes: ["violations"] })})`,
  )) as AxeResults;
  const findings = results.violations.map(({ id, impact, help, nodes }) => {
    const where = nodes
      .slice(0, 5)
      .map(
        (node) =>
          `    ${node.html.slice(0, 200)}\n      ${node.failureSummary?.replaceAll("\n", " ")}`,
      );
    return `${impact} ${id}: ${help}\n${where.join("\n")}`;
  });
  assert.ok(results.passes.length >= atLeast, `${what}: hardly anything was looked at`);
  assert.deepEqual(findings, [], `${what}: ${findings.join("\n")}`);
};

/** What the page shows now, in both colour schemes and without loading it again. */
export const audit = async (page: Page, what: string): Promise<void> => {
  for (const [colorScheme, rules] of [
    ["light", allRules],
    ["dark", colourRules],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
    await auditPage(page, `${what}, ${colorScheme}`, rules);
  }
  await page.emulateMedia({ colorScheme: null });
};

/** Nothing makes the page scroll sideways; says what sticks out. */
export const isAsWideAsScreen = async (page: Page, what: string): Promise<void> => {
  const tooWide = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    /** Itself, or text that is too long for it. */
    const isOutside = (element: Element): boolean => {
      const { left, width } = element.getBoundingClientRect();
      return left + Math.max(width, element.scrollWidth) > clientWidth + 1;
    };
    /** Something around it scrolls or cuts it off; to what is positioned absolutely, only what is positioned does. */
    const isClipped = (element: Element): boolean => {
      let isAbsolute = getComputedStyle(element).position === "absolute";
      for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
        const { position, overflowX } = getComputedStyle(at);
        if (isAbsolute && position === "static") continue;
        if (overflowX !== "visible") return true;
        isAbsolute = position === "absolute";
      }
      return false;
    };
    const wide = [...document.querySelectorAll("body *")]
      .filter((element) => isOutside(element) && !isClipped(element))
      // The innermost.
      .filter(({ children }) => ![...children].some(isOutside))
      .map(({ outerHTML }) => outerHTML.slice(0, 200));
    return [`${scrollWidth} pixels instead of ${clientWidth}`, ...wide];
  });
  assert.deepEqual(tooWide.slice(0, 8), [], `${what} scrolls sideways`);
};

/** Nothing but what scrolls on its own is wider than the screen. */
export const fitsOn = async (page: Page, width: number): Promise<void> => {
  const size = page.viewportSize();
  await page.setViewportSize({ width, height: 800 });
  await isAsWideAsScreen(page, `the page at ${width} pixels`);
  if (size) await page.setViewportSize(size);
};
