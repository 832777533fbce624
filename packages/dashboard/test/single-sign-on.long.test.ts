// Signing in with a provider in a real browser: the provider is another site, and the first page afterwards is signed in.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  type IdentityProvider,
  startIdentityProvider,
} from "../../server/test/support/identity-provider.ts";
import { type SingleSignOn, startSingleSignOn } from "../../server/test/support/single-sign-on.ts";
import { testBrowser } from "./support/browser.ts";
import { addressOf } from "./support/flags.ts";

const browser = testBrowser();
let provider: IdentityProvider;
let server: SingleSignOn;
before(async () => {
  // Halyard is at 127.0.0.1: to a browser, localhost is another site.
  provider = await startIdentityProvider("localhost");
  provider.people.set("ada", { name: "Ada Lovelace", groups: ["developers"] });
  provider.visitor = "ada";
  const groups = { developers: { roles: { development: "editor" } } };
  server = await startSingleSignOn({ main: provider }, { main: { groups } });
});
after(async () => {
  await server.close();
  await provider.close();
});

test("the first page after the provider's own is signed in", async (t) => {
  const expected = [/^a request elsewhere: http:\/\/localhost:/];
  const { page, context } = await browser.visit(t, server.url, { expected });
  const flags = "/environments/development/flags";
  const asked: number[] = [];
  page.on("response", (response) => {
    if (new URL(response.url()).pathname === "/session") asked.push(response.status());
  });
  await page.goto(`/sign-in/oidc/main?to=${encodeURIComponent(flags)}`);
  // The way back begins on the provider's page, as everywhere that people type a password.
  while (new URL(page.url()).origin === provider.issuer) {
    const before = page.url();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.waitForURL((url) => url.href !== before);
  }
  await page.getByRole("heading", { name: "Flags", level: 1 }).waitFor();
  assert.equal((await addressOf(page)).href, `${server.url}${flags}`);
  assert.deepEqual(asked, [200], "the first question for the session was answered");
  const own = (await context.cookies()).filter(({ domain }) => domain === "127.0.0.1");
  assert.deepEqual(
    own.map(({ name, sameSite, httpOnly }) => [name, sameSite, httpOnly]),
    [["halyard_session", "Strict", true]],
  );
});
