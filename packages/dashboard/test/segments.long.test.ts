// Splits by keyboard, by dragging and by numbers.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { recut } from "@halyard/core/targeting/split";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { openAs, stateOf, until } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("a split changes by keyboard, by dragging and by numbers, and says whom it moves", async (t) => {
  const { keys, admin } = await server.environment();
  const split = [
    { variant: "small", share: 50 },
    { variant: "medium", share: 30 },
    { variant: "large", share: 20 },
  ];
  await admin("POST", "/flags", {
    key: "size",
    type: "variant",
    valueType: "number",
    variants: { small: 1, medium: 2, large: 3, huge: 4 },
    off: "small",
    otherwise: split,
  });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/size", audited);
  const border = page.getByRole("slider", { name: "Border between small and medium" });
  const share = (name: string) => page.getByLabel(`Percent of users: ${name}`, { exact: true });
  await border.focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Shift+ArrowLeft");
  assert.equal(await border.getAttribute("aria-valuetext"), "small 39\u00a0%, medium 41\u00a0%");
  await page.getByText("11\u00a0% of people move from small to medium.").waitFor();
  await page.keyboard.press("End");
  assert.equal(await share("medium").inputValue(), "0%");
  await page.keyboard.press("Home");
  assert.equal(await share("medium").inputValue(), "80%");

  const bar = await page.getByRole("group", { name: "Percent of users while on" }).boundingBox();
  const thumb = await border.boundingBox();
  assert.ok(bar && thumb);
  await page.mouse.move(thumb.x + thumb.width / 2, thumb.y + thumb.height / 2);
  await page.mouse.down();
  await page.mouse.move(bar.x + bar.width * 0.45, thumb.y + 4, { steps: 3 });
  await page.mouse.up();
  assert.equal(await share("small").inputValue(), "45%");
  assert.equal(await share("medium").inputValue(), "35%");

  // Each digit counts from where the typing began.
  await share("small").fill("47.125");
  assert.equal(await share("medium").inputValue(), "32.875%");
  await page.getByRole("combobox", { name: "Add a variant to the split" }).click();
  await page.getByRole("option", { name: "huge" }).click();
  await share("huge").fill("10");
  assert.equal(await share("large").inputValue(), "10%");
  await page.getByRole("button", { name: "Remove medium from the split" }).click();
  assert.equal(await share("medium").count(), 0);
  await audit(page, "a split of three");
  await fitsOn(page, 320);
  await page.getByRole("button", { name: "Save changes" }).press("Enter");
  const wanted = { small: 47.125, large: 42.875, huge: 10 };
  await until(async () =>
    assert.partialDeepStrictEqual(await stateOf(admin, "size"), {
      otherwise: recut(split, wanted),
    }),
  );
});
