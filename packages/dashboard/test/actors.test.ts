// Authors of changes on every page: the person first, then the key.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { signInAs } from "../../server/test/support/people.ts";
import { setProtected } from "../../server/test/support/protected.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { testBrowser } from "./support/browser.ts";
import { openAs } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("what people do with their keys names them first, on every page", async (t) => {
  const { name, keys, admin } = await server.environment();
  const withKey = async (person: string, keyName: string) => {
    const signedIn = await signInAs(server, { name: person, roles: { [name]: "editor" } });
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const body = { name: keyName, role: "editor", expiresAt };
    const made = await signedIn.in(name)("POST", "/personal-keys", body);
    assert.equal(made.status, 201, made.text);
    return server.api((made.body as { key: string }).key);
  };
  const ada = await withKey("Ada Lovelace", "cli");
  const ben = await withKey("Ben Nevis", "laptop");
  const hook = { url: "http://127.0.0.1:9/", events: ["*"] };
  const { id: webhook } = (await admin("POST", "/webhooks", hook)).body as { id: string };
  await ada("POST", "/flags", { key: "checkout", type: "boolean" });
  await setProtected(server, name, true);
  const proposed = await ada("PATCH", "/flags/checkout?reason=Ready", { enabled: true });
  const { id, digest } = proposed.body as { id: string; digest: string };
  await ben("POST", `/change-requests/${id}/comments`, { text: "Why now?" });

  const at = (path: string) => `${server.url}/environments/${name}${path}`;
  const [author, reviewer] = ["Ada Lovelace (key cli)", "Ben Nevis (key laptop)"];
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/history");
  const main = page.getByRole("main");
  const says = (text: string) => main.getByText(text).first().waitFor();
  await says(author);
  await page.goto(at("/change-requests"));
  await says(author);
  await page.goto(at("/flags/checkout"));
  await main.getByRole("alert").getByText(`by ${author}`).waitFor();
  await page.goto(at(`/change-requests/${id}`));
  await says(`Proposed by ${author}`);
  await says(reviewer);

  const approved = await ben("POST", `/change-requests/${id}/approve`, { digest });
  assert.equal(approved.status, 200, approved.text);
  await page.reload();
  await says(`approved ${reviewer}`);
  for (const path of ["/history", "/events", "/flags/checkout"]) {
    await page.goto(at(path));
    await says(author);
    await says(`Approved by ${reviewer}`);
  }
  await says(`by ${author}`);
  await page.goto(at("/flags"));
  await says(`by ${author}`);
  await page.goto(at(`/webhooks/${webhook}`));
  await page.getByRole("list", { name: "Deliveries" }).getByRole("link").last().click();
  await says(author);
});
