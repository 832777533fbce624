// The controls of a page: found by their labels, with the focus, and large enough for fingers.
import type { Locator, Page } from "playwright-core";

/** A list of suggestions has the same label. */
export const field = (place: Page | Locator, label: string): Locator =>
  place.getByLabel(label, { exact: true }).and(place.locator("input, select, textarea"));

/** The name of what has the focus, or else its classes. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { activeElement } = document;
    const label = (activeElement as HTMLInputElement | null)?.labels?.[0]?.textContent;
    return activeElement?.getAttribute("aria-label") ?? label ?? activeElement?.className ?? "";
  });

/** What fingers do not hit. A box is as large as its label, and links in a text are as high as the text. */
export const tooSmall = (page: Page, within: string): Promise<string[]> =>
  page
    .locator(within)
    .locator("button:visible, select:visible, input:visible")
    .evaluateAll((elements) =>
      elements
        .filter(
          (element) => !element.matches("[type=checkbox], [type=radio], .mantine-Anchor-root"),
        )
        .filter((element) => element.getBoundingClientRect().height < 44)
        .map((element) => element.outerHTML.slice(0, 120)),
    );
