// What the log tells of people who sign in: who, how and from where; never what they prove it with.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import {
  codeNeeded,
  goodPassword,
  headersOf,
  newAccount,
  signedIn,
  signIn,
} from "./support/accounts.ts";
import { createApi } from "./support/api.ts";
import { serveHalyard } from "./support/halyard-process.ts";
import { logLines, logText } from "./support/log-lines.ts";
import { turnOnSecondFactor } from "./support/second-factor.ts";
import { newFolder } from "./support/server.ts";
import { setCookieOf } from "./support/session.ts";

test("every sign-in and every change of what somebody signs in with has its line, without a secret", async (t) => {
  const folder = newFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const settings = { HALYARD_ACCESS_LOG: "on", HALYARD_LOG_LEVEL: "trace" };
  const halyard = await serveHalyard(folder, settings);
  const server = { url: halyard.url, folder, anonymous: createApi(halyard.url) };
  const account = await newAccount(server, { name: "Grace" });
  const wrong = "a wrong password of Grace";
  await signIn(server, { ...account, password: wrong });
  await signIn(server, { email: "typed-by-mistake@example.com", password: goodPassword });
  const token = "a-token-that-nobody-has-issued";
  await server.anonymous("GET", `//session/invitation?token=${token}`);
  await server.anonymous("POST", "//session/invitation", {
    token,
    name: "Eve",
    password: goodPassword,
  });
  const other = await signedIn(server, account);
  const on = await turnOnSecondFactor(server, other, () => new Date());
  codeNeeded(await signIn(server, account));
  codeNeeded(await signIn(server, { ...account, code: "000000" }));
  const [used = "", ...left] = on.recoveryCodes;
  const last = await signedIn(server, { ...account, code: used });
  const call = (method: string, path: string, body?: unknown, session = headersOf(last)) =>
    server.anonymous(method, path, body, session);
  await call("POST", "//session/recovery-codes");
  await call("DELETE", "//session/list");
  const off = await call("DELETE", "//session/second-factor");
  const cookie = setCookieOf(off)?.pair ?? "";
  const { csrf } = (await call("GET", "//session", undefined, headersOf({ cookie, csrf: "" })))
    .body as { csrf: string };
  const password = "another one that is as good";
  const renewed = headersOf({ cookie, csrf });
  const changed = await call(
    "PUT",
    "//session/password",
    { current: goodPassword, password },
    renewed,
  );
  assert.equal(changed.status, 200, changed.text);
  halyard.kill("SIGTERM");
  const { stdout } = await halyard.ended;

  const { userId } = account;
  const method = "password";
  const audited = logLines(stdout)
    .filter(({ audit }) => audit?.startsWith("session."))
    .map(({ audit, ...line }) => {
      assert.equal(line.address, "127.0.0.1");
      assert.ok(line.reqId);
      const { userId: who, method: how, wrong: what } = line as Record<string, unknown>;
      return { audit, userId: who, method: how, wrong: what };
    });
  const line = (audit: string, fields: object = {}) => ({
    ...{ audit: `session.${audit}`, userId, method: undefined, wrong: undefined },
    ...fields,
  });
  assert.deepEqual(audited, [
    line("began", { method }),
    line("failed", { wrong: "password" }),
    line("failed", { wrong: "password", userId: undefined }),
    line("failed", { wrong: "invitation", userId: undefined }),
    line("began", { method }),
    line("second-factor-on"),
    line("failed", { wrong: "code" }),
    line("began", { method }),
    line("recovery-codes"),
    line("ended"),
    line("second-factor-off"),
    line("password-changed"),
  ]);
  const text = logText(stdout);
  for (const secret of [
    ...[goodPassword, wrong, password, token, used, ...left],
    ...[account.email, "typed-by-mistake", account.session.cookie.slice(-43), last.csrf],
    ...[Buffer.from(on.secret).toString("hex")],
  ]) {
    assert.ok(!text.includes(secret), secret);
  }
});
