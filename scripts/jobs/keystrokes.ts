// What a letter costs in a search of 5,000 flags: the processor time of the page's scripts, styles and layout.
import type { Page } from "playwright-core";

interface Keystrokes {
  readonly letters: number;
  /** In milliseconds; the script alone. */
  readonly median: number;
  readonly most: number;
  /** With styles and layout. */
  readonly mostOfAll: number;
}

/** Until what the letter caused, also what was put off, has been painted. */
const painted = `new Promise((resolve) =>
  requestIdleCallback(() => requestAnimationFrame(() => setTimeout(resolve))))`;

const typeAndMeasure = async (page: Page, text: string): Promise<Keystrokes> => {
  const session = await page.context().newCDPSession(page);
  // Of the page's thread: what others do on the machine does not count.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const spent = async (): Promise<readonly [script: number, all: number]> => {
    const { metrics } = await session.send("Performance.getMetrics");
    const of = (name: string) => 1_000 * (metrics.find((each) => each.name === name)?.value ?? 0);
    const script = of("ScriptDuration");
    return [script, script + of("LayoutDuration") + of("RecalcStyleDuration")];
  };
  const scripts: number[] = [];
  const all: number[] = [];
  for (const letter of text) {
    await page.evaluate(painted);
    const [scriptBefore, allBefore] = await spent();
    await page.keyboard.press(letter === " " ? "Space" : letter);
    await page.evaluate(painted);
    const [scriptAfter, allAfter] = await spent();
    scripts.push(scriptAfter - scriptBefore);
    all.push(allAfter - allBefore);
  }
  await session.detach();
  const sorted = scripts.toSorted((a, b) => a - b);
  return {
    letters: text.length,
    median: sorted[Math.floor(sorted.length / 2)] ?? 0,
    most: sorted.at(-1) ?? 0,
    mostOfAll: Math.max(...all),
  };
};

const sentence = (where: string, { letters, median, most, mostOfAll }: Keystrokes): string =>
  `${where}: ${letters} letters, script of one ${median.toFixed(1)} ms (median), ${most.toFixed(1)} ms (most), with styles and layout ${mostOfAll.toFixed(1)} ms (most)`;

/** The page shows the list of flags. */
export const measureKeystrokes = async (page: Page): Promise<readonly string[]> => {
  await page.keyboard.press("/");
  const inList = await typeAndMeasure(page, "passport upload");
  await page.keyboard.press("ControlOrMeta+k");
  await page.locator("[role=listbox]").waitFor();
  const inPalette = await typeAndMeasure(page, "pasport uplaod");
  return [sentence("filter of the list", inList), sentence("command palette", inPalette)];
};
