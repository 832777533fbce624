// The page of a change request whose flag has changed since: it doesn't blame other people or report edits that didn't happen.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { minute, movableClock } from "../../server/test/support/movable-clock.ts";
import { act, propose, protectedEnvironment, read } from "../../server/test/support/protected.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { testBrowser } from "./support/browser.ts";
import { until } from "./support/flags.ts";
import { openAsPerson } from "./support/people.ts";

const browser = testBrowser();
const moved = movableClock();
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { clock: moved.clock });
});
after(() => server.close());

test("an author's own later change isn't attributed to someone else, and no edit is blamed for a lost approval", async (t) => {
  const { name, admin, ada, asAda, asBen } = await protectedEnvironment(server);
  const operations = [{ kind: "flag", key: "checkout", action: "patch", body: { enabled: true } }];
  const applyAt = new Date(moved.clock().getTime() + 20 * minute).toISOString();
  const made = await asAda("POST", "/change-requests", { operations, applyAt });
  assert.equal(made.status, 201, made.text);
  const request = made.body as Awaited<ReturnType<typeof read>>;
  assert.equal((await act(asBen, request, "approve")).status, 200);
  const own = await propose(asAda, { description: "Mine too" });
  assert.equal((await act(asBen, own, "approve")).status, 200);
  moved.forward(21 * minute);
  await until(async () => assert.equal((await read(admin, request)).state, "open"));

  const path = `/environments/${name}/change-requests/${request.id}`;
  const { page } = await openAsPerson(browser, t, server.url, ada, path);
  await page
    .getByText(
      "checkout changed since this was proposed, so it can’t be approved. Rebase it to apply the same change.",
    )
    .waitFor();
  await page.getByText("Changed since this was proposed:", { exact: true }).waitFor();
  const approvals = page.getByRole("region", { name: "Approvals" });
  await approvals.getByText("no longer counts", { exact: true }).waitFor();
  assert.doesNotMatch(
    (await page.getByRole("main").textContent()) ?? "",
    /omebody|before the request/,
  );
});
