// Evaluations that fail, in a real browser: programs that evaluate a deleted flag, an unknown key, or another type.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient } from "@halyard/sdk";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, openAs, seedFlags } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("programs that evaluate a deleted flag, an unknown key or another type are named until that ends", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [
    { key: "button-size", type: "boolean" },
    { key: "new-checkout", type: "boolean" },
    { key: "old-checkout", type: "boolean" },
  ]);
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags", audited);
  await page.getByRole("link", { name: "new-checkout" }).waitFor();
  const link = page.getByRole("link", { name: /evaluation error/ });
  assert.equal(await link.count(), 0);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("evaluation errors");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "No evaluation errors" }).waitFor();
  await audit(page, "no evaluation errors");

  await admin("DELETE", "/flags/old-checkout");
  for (const name of ["checkout-api", "web-shop"]) {
    const client = createClient({
      ...{ url: server.url, key: keys.server, name },
      log: false,
    });
    t.after(() => client.close());
    await client.ready();
    client.isEnabled("old-checkout");
    if (name === "checkout-api") client.isEnabled("chekout");
    else client.stringValue("button-size", {}, "small");
    await client.close();
  }

  await page.reload();
  const main = page.getByRole("main");
  await main.getByText("3 keys in the last 7 days").waitFor();
  const sentenceOf = (list: string) =>
    main.getByRole("list", { name: list }).getByRole("paragraph").first().textContent();
  assert.match(
    (await sentenceOf("Deleted flags")) ?? "",
    /^checkout-api and web-shop still evaluate this key, but admin deleted the flag .+\.$/,
  );
  assert.equal(
    await sentenceOf("Unknown keys"),
    "checkout-api evaluates this key, but no such flag exists.",
  );
  assert.equal(
    await sentenceOf("Flags of another type"),
    "web-shop expects another type, but the values of this flag have the type boolean.",
  );
  const programs = main.getByRole("list", { name: "Programs that evaluate old-checkout" });
  assert.equal(await programs.getByRole("listitem").count(), 2);
  await audit(page, "evaluation errors");
  for (const width of [320, 390, 768]) await fitsOn(page, width);

  await main.getByRole("link", { name: "button-size" }).click();
  await main.getByText(/web-shop expects another type/).waitFor();
  await audit(page, "a flag whose evaluations fail");
  await page.getByRole("link", { name: "All flags" }).click();
  await main.getByRole("link", { name: "3 evaluation errors" }).click();
  await main.getByRole("link", { name: "old-checkout" }).click();
  await main.getByText(/still evaluate this key/).waitFor();
  await audit(page, "a deleted flag that programs evaluate");
  await fitsOn(page, 390);

  // Creating the flag ends the error at once.
  await main.getByRole("button", { name: "Create it here" }).click();
  await dialog(page).getByRole("button", { name: "Create", exact: false }).last().click();
  await main.getByText(/still evaluate this key/).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "All flags" }).click();
  await main.getByRole("link", { name: "2 evaluation errors" }).waitFor();
  await audit(page, "the list of flags with evaluation errors");
});
