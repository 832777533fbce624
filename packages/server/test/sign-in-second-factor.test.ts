// The second factor: codes as RFC 6238 has them, each good once; recovery codes; and no way to sign in without it.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { composeOperator, parseConfig } from "@halyard/server";
import { base32, codeAt, stepAt, stepOf } from "../src/features/people/sign-in/totp.ts";
import { createSecretCipher } from "../src/platform/database/secrets/secret-cipher.ts";
import {
  type Account,
  codeNeeded,
  headersOf,
  newAccount,
  signedIn,
  signIn,
} from "./support/accounts.ts";
import { assertRefused } from "./support/answers.ts";
import { readContents, readRows, writeRows } from "./support/database.ts";
import { minute, movableClock, second } from "./support/movable-clock.ts";
import { fromBase32, sessionAfter, turnOnSecondFactor } from "./support/second-factor.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { setCookieOf, type TestSession } from "./support/session.ts";
import { storeSettings } from "./support/test-store.ts";

const clock = movableClock();
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { clock: clock.clock });
});
after(() => server.close());

type OpenSession = Pick<TestSession, "cookie" | "csrf">;
const path = "//session/second-factor";
const call = (method: string, session: OpenSession, body?: unknown, at = path) =>
  server.anonymous(method, at, body, headersOf(session));
const codeNow = (secret: Uint8Array, ahead = 0) => codeAt(secret, stepAt(clock.clock()) + ahead);
/** So that a code is one that was not used. */
const nextStep = () => clock.forward(30 * second);

test("codes are those of RFC 6238, and secrets those of RFC 4648", () => {
  const secret = Buffer.from("12345678901234567890");
  for (const [seconds, code] of [
    [59, "94287082"],
    [1_111_111_109, "07081804"],
    [1_111_111_111, "14050471"],
    [1_234_567_890, "89005924"],
    [2_000_000_000, "69279037"],
    [20_000_000_000, "65353130"],
  ] as const) {
    const at = new Date(1_000 * seconds);
    assert.equal(codeAt(secret, stepAt(at), 8), code);
    const step = stepAt(at);
    // A clock may be one step off, and no more.
    for (const off of [-1, 0, 1, 2, 3]) {
      const found = stepOf(secret, codeAt(secret, step + off), at);
      assert.equal(found, off <= 1 ? step + off : undefined);
    }
  }
  for (const [plain, encoded] of [
    ["", ""],
    ["f", "MY"],
    ["fo", "MZXQ"],
    ["foo", "MZXW6"],
    ["foob", "MZXW6YQ"],
    ["fooba", "MZXW6YTB"],
    ["foobar", "MZXW6YTBOI"],
  ] as const) {
    assert.equal(base32(Buffer.from(plain)), encoded);
  }
});

suite("setting it up", () => {
  test("it counts from the first code on, gives ten recovery codes once, and ends the other sessions", async () => {
    const account = await newAccount(server);
    const other = await signedIn(server, account);
    const begun = await call("POST", account.session);
    const { secret: shown, uri } = begun.body as { secret: string; uri: string };
    const url = new URL(uri);
    assert.equal(url.searchParams.get("secret"), shown);
    assert.equal(`${url.host}${decodeURIComponent(url.pathname)}`, `totp/Halyard:${account.email}`);
    assert.equal(fromBase32(shown).length, 20);
    // Not yet: nobody is locked out by a setup that was not finished.
    await signedIn(server, account);
    const { user } = (await server.anonymous("GET", "//session", undefined, headersOf(other)))
      .body as { user: { hasSecondFactor: boolean } };
    assert.equal(user.hasSecondFactor, false);
    assertRefused(await call("PUT", account.session, { code: "abc" }), 400, "code");

    const code = codeNow(fromBase32(shown));
    const on = await call("PUT", account.session, { code: `${code.slice(0, 3)} ${code.slice(3)}` });
    const { recoveryCodes } = on.body as { recoveryCodes: string[] };
    assert.equal(new Set(recoveryCodes).size, 10);
    for (const each of recoveryCodes) assert.match(each, /^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
    // A new token, and no other session.
    const cookie = setCookieOf(on)?.pair ?? "";
    assert.notEqual(cookie, account.session.cookie);
    assertRefused(await call("GET", account.session, undefined, "//session"), 401);
    assertRefused(await call("GET", other, undefined, "//session"), 401);
    const session = await sessionAfter(server, cookie);
    assertRefused(await call("POST", session), 409, "turn it off");
    assertRefused(await call("PUT", session, { code }), 409);
    for (const [place, bytes] of await readContents(server)) {
      for (const each of [
        shown,
        fromBase32(shown),
        Buffer.from(fromBase32(shown)).toString("hex"),
        ...recoveryCodes,
      ]) {
        assert.ok(!bytes.includes(each), place);
      }
    }
  });

  test("the code that turned it on does not sign in as well", async () => {
    const account = await newAccount(server);
    const { secret, code } = await turnOnSecondFactor(server, account.session, clock.clock);
    codeNeeded(await signIn(server, { ...account, code }));
    nextStep();
    await signedIn(server, { ...account, code: codeNow(secret) });
  });
});

suite("signing in with it", () => {
  let account: Account;
  let secret: Uint8Array;
  let recoveryCodes: readonly string[];
  before(async () => {
    account = await newAccount(server);
    ({ secret, recoveryCodes } = await turnOnSecondFactor(server, account.session, clock.clock));
  });

  test("the password alone does not do it, and only whoever knows it is asked for the code", async () => {
    const answer = await signIn(server, account);
    codeNeeded(answer);
    assert.equal(setCookieOf(answer), undefined);
    const wrong = await signIn(server, { ...account, password: "not the password of it" });
    assertRefused(wrong, 401, "wrong");
    assert.equal((wrong.body as { details?: unknown }).details, undefined);
    nextStep();
    const bad = await signIn(server, {
      ...account,
      password: "not the one",
      code: codeNow(secret),
    });
    assert.equal((bad.body as { details?: unknown }).details, undefined);
    // It was not used up by that.
    await signedIn(server, { ...account, code: codeNow(secret) });
  });

  test("a code is good once, and with it those of the steps before", async () => {
    nextStep();
    nextStep();
    const [before, now, later] = [-1, 0, 1].map((ahead) => codeNow(secret, ahead));
    assert.ok(before && now && later);
    await signedIn(server, { ...account, code: now });
    codeNeeded(await signIn(server, { ...account, code: now }));
    codeNeeded(await signIn(server, { ...account, code: before }));
    await signedIn(server, { ...account, code: later });
    codeNeeded(await signIn(server, { ...account, code: now }));
  });

  test("of many with the same code at the same moment one gets in", async () => {
    nextStep();
    nextStep();
    const code = codeNow(secret);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => signIn(server, { ...account, code })),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  });

  test("a recovery code is good once, however it is typed", async () => {
    const [first = "", second = ""] = recoveryCodes;
    await signedIn(server, { ...account, code: ` ${first.toUpperCase().replaceAll("-", " ")} ` });
    codeNeeded(await signIn(server, { ...account, code: first }));
    const both = await Promise.all([1, 2].map(() => signIn(server, { ...account, code: second })));
    assert.deepEqual(new Set(both.map(({ status }) => status)), new Set([200, 401]));
    const [row] = await readRows(server, "select recovery from users where id = ?", account.userId);
    assert.equal((JSON.parse(String(row?.recovery)) as string[]).length, 8);
  });

  test("somebody else's code is not one", async () => {
    const other = await newAccount(server);
    const theirs = await turnOnSecondFactor(server, other.session, clock.clock);
    nextStep();
    codeNeeded(await signIn(server, { ...account, code: codeNow(theirs.secret) }));
    codeNeeded(await signIn(server, { ...account, code: theirs.recoveryCodes[0] ?? "" }));
  });
});

suite("taking it off", () => {
  test("needs a fresh sign-in with a code; then the password is enough", async () => {
    const account = await newAccount(server);
    const { secret, session } = await turnOnSecondFactor(server, account.session, clock.clock);
    clock.forward(15 * minute);
    for (const [method, at] of [
      ["DELETE", path],
      ["POST", "//session/recovery-codes"],
    ] as const) {
      const answer = await call(method, session, undefined, at);
      assert.equal(answer.status, 403, answer.text);
      assert.equal((answer.body as { error: string }).error, "SIGN_IN_AGAIN");
    }
    const { password } = account;
    codeNeeded(await call("POST", session, { password }, "//session/again"));
    codeNeeded(await call("POST", session, { password, code: "123 456" }, "//session/again"));
    const code = codeNow(secret);
    const again = await call("POST", session, { password, code }, "//session/again");
    assert.equal(again.status, 200, again.text);
    assertRefused(await call("DELETE", session), 401);
    const fresh = await sessionAfter(server, setCookieOf(again)?.pair ?? "");
    const off = await call("DELETE", fresh);
    assert.equal(off.status, 204, off.text);
    assert.notEqual(setCookieOf(off)?.pair, fresh.cookie);
    await signedIn(server, account);
  });

  test("a sign-in by a provider shows no code: it is asked for", async () => {
    const account = await newAccount(server);
    const { secret, session: byProvider } = await turnOnSecondFactor(
      server,
      account.session,
      clock.clock,
    );
    await writeRows(
      server,
      "update sessions set method = 'oidc:work' where user_id = ?",
      account.userId,
    );
    const refused = await call("DELETE", byProvider);
    assert.equal((refused.body as { error: string }).error, "SIGN_IN_AGAIN", refused.text);
    const { password } = account;
    nextStep();
    const proof = { password, code: codeNow(secret) };
    const again = await call("POST", byProvider, proof, "//session/again");
    assert.equal(again.status, 200, again.text);
    const fresh = await sessionAfter(server, setCookieOf(again)?.pair ?? "");
    assert.equal((await call("DELETE", fresh)).status, 204);
  });

  test("new recovery codes take the place of the old ones", async () => {
    const account = await newAccount(server);
    const before = await turnOnSecondFactor(server, account.session, clock.clock);
    const made = await call("POST", before.session, undefined, "//session/recovery-codes");
    const { recoveryCodes } = made.body as { recoveryCodes: string[] };
    assert.equal(recoveryCodes.length, 10);
    codeNeeded(await signIn(server, { ...account, code: before.recoveryCodes[0] ?? "" }));
    await signedIn(server, { ...account, code: recoveryCodes[0] ?? "" });
  });

  test("without a password there is nothing that it would protect", async () => {
    const { userId, session } = await newAccount(server);
    await writeRows(server, "update users set password = null where id = ?", userId);
    assertRefused(await call("POST", session), 409, "with a password");
  });
});

test("its secret is encrypted again with a new key, and one that cannot be read is told", async () => {
  const account = await newAccount(server);
  const { secret } = await turnOnSecondFactor(server, account.session, clock.clock);
  const sealedRow = async () => {
    const [row] = await readRows(server, "select totp from users where id = ?", account.userId);
    return Buffer.from(row?.totp as Uint8Array);
  };
  const before = await sealedRow();
  const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const sealed = createSecretCipher([oldKey]).seal(
    Buffer.from(secret).toString("hex"),
    account.userId,
  );
  const withKeys = async (...keys: Buffer[]) =>
    composeOperator(
      parseConfig({
        ...(await storeSettings(server.folder)),
        HALYARD_SECRET_KEY: keys.map((key) => key.toString("base64")).join(","),
      }),
    );
  await writeRows(server, "update users set totp = ? where id = ?", sealed, account.userId);
  const without = await withKeys(newKey);
  assert.ok((await without.unreadableSecrets()).includes(account.userId));
  await without.close();
  assert.equal((await signIn(server, { ...account, code: codeNow(secret) })).status, 500);

  await writeRows(server, "delete from users where id <> ? and totp is not null", account.userId);
  const rotating = await withKeys(newKey, oldKey);
  assert.ok((await rotating.reencryptSecrets({ isAddressKeyLost: false })).count >= 1);
  await rotating.close();
  const after = createSecretCipher([newKey]).open(await sealedRow(), account.userId);
  assert.equal(after, Buffer.from(secret).toString("hex"));
  await writeRows(server, "update users set totp = ? where id = ?", before, account.userId);
});
