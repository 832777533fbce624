// People sign in with a password: what is good enough, what is told to whom, and who gets tired first.
import assert from "node:assert/strict";
import { argon2Sync } from "node:crypto";
import { after, before, suite, test } from "node:test";
import { createPasswords } from "../src/features/people/sign-in/passwords.ts";
import { headersOf, invite, newAccount, newEmail, signedIn, signIn } from "./support/accounts.ts";
import { assertRefused } from "./support/answers.ts";
import type { Answer } from "./support/api.ts";
import { readContents, readRows, writeRows } from "./support/database.ts";
import { addPerson } from "./support/people.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { sessionOf, setCookieOf, signInWith } from "./support/session.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const read = (cookie: string) => server.anonymous("GET", "//session", undefined, { cookie });
const ways = async () => (await server.anonymous("GET", "//session/ways")).body;
const wrongPassword = "not the one that was chosen";

test("the page learns whether anybody has a password", async () => {
  assert.deepEqual(await ways(), { password: false, providers: [] });
  await newAccount(server);
  assert.deepEqual(await ways(), { password: true, providers: [] });
});

test("an address and a password become a session of that person", async () => {
  const { name } = await server.environment();
  const account = await newAccount(server, { roles: { [name]: "editor" } });
  const answer = await signIn(server, account);
  const session = sessionOf(answer);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.partialDeepStrictEqual(answer.body, {
    method: "password",
    isOwner: false,
    user: { id: account.userId, email: account.email, hasPassword: true, hasSecondFactor: false },
    environments: [{ name, role: "editor" }],
  });
  const flag = { key: "a", type: "boolean" };
  const made = await server.anonymous("POST", "/flags", flag, session.headersFor(name));
  assert.equal(made.status, 201, made.text);
  assert.deepEqual((await read(session.cookie)).body, answer.body);
});

suite("passwords", () => {
  test("neither they nor the token of an invitation are kept anywhere", async () => {
    const password = "a password that stands nowhere";
    const userId = await addPerson(server, { email: newEmail() });
    const token = await invite(server, userId);
    await server.anonymous("POST", "//session/invitation", { token, name: "Ada", password });
    const [row] = await readRows(server, "select password from users where id = ?", userId);
    assert.match(String(row?.password), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    for (const [place, bytes] of await readContents(server)) {
      assert.ok(!bytes.includes(password), place);
      assert.ok(!bytes.includes(token), place);
    }
  });

  test("one that is short, long, common, or their own name is refused, and the invitation stays good", async () => {
    const email = newEmail();
    const name = "Augusta Ada King";
    const userId = await addPerson(server, { name, email });
    const token = await invite(server, userId);
    const accept = (password: string) =>
      server.anonymous("POST", "//session/invitation", { token, name, password });
    for (const [password, word] of [
      ["nine char", "at least 10"],
      // Nine characters in 18 code units.
      ["🐟🐟🐟🐠🐟🐟🐟🐟🐟", "at least 10"],
      // Five letters with five accents.
      ["áéíóú".normalize("NFD"), "at least 10"],
      [`x${"é".repeat(600)}`, "at most 1000 bytes"],
      ["1q2w3e4r5t", "many people use"],
      ["PassWord123", "many people use"],
      ["Password!202", "many people use"],
      ["dragonfly".repeat(2), "many people use"],
      [name.toUpperCase(), "your name"],
      [email, "your name or address"],
    ] as const) {
      assertRefused(await accept(password), 400, "password", word);
    }
    assert.equal((await accept("Ünïcödé ist gut")).status, 200);
    // Typed in the other way to write the same letters.
    const decomposed = "Ünïcödé ist gut".normalize("NFD");
    assert.equal((await signIn(server, { email, password: decomposed })).status, 200);
  });

  test("a hash with other parameters is good, and made again at the next sign-in", async () => {
    const { userId, email, password } = await newAccount(server);
    const nonce = Buffer.alloc(16, 7);
    const tag = argon2Sync("argon2id", {
      message: password,
      nonce,
      memory: 64,
      passes: 1,
      parallelism: 1,
      tagLength: 32,
    });
    const base64 = (bytes: Buffer) => bytes.toString("base64").replaceAll("=", "");
    const old = `$argon2id$v=19$m=64,t=1,p=1$${base64(nonce)}$${base64(tag)}`;
    await writeRows(server, "update users set password = ? where id = ?", old, userId);
    assertRefused(await signIn(server, { email, password: wrongPassword }), 401);
    await signedIn(server, { email, password });
    const [row] = await readRows(server, "select password from users where id = ?", userId);
    assert.match(String(row?.password), /m=19456,t=2,p=1/);
    await signedIn(server, { email, password });
  });
});

test("only so many passwords are hashed and wait; whoever comes after them is told to come again", async () => {
  const passwords = createPasswords((count) => new Uint8Array(count));
  const cheap = `$argon2id$v=19$m=8,t=1,p=1$${"A".repeat(22)}$${"A".repeat(43)}`;
  const all = await Promise.all(
    Array.from({ length: 110 }, () => passwords.verify(wrongPassword, cheap)),
  );
  const refused = all.filter(({ ok }) => !ok);
  assert.equal(refused.length, 8);
  for (const each of refused) assert.equal(!each.ok && each.failure.code, "UNAVAILABLE");
  assert.equal((await passwords.verify(wrongPassword, cheap)).ok, true);
});

suite("who has an account is told to nobody", () => {
  const tellable = ({ status, body, headers }: Answer) => ({
    status,
    body,
    headers: [...headers].filter(([name]) => !["date", "x-request-id"].includes(name)),
  });

  test("an unknown address, one without a password and a wrong password have the same answer", async () => {
    const { email } = await newAccount(server);
    const invited = newEmail();
    await addPerson(server, { email: invited });
    const answers: unknown[] = [];
    for (const each of [email, "nobody@example.com", invited, "no address", "a@b@example.com"]) {
      answers.push(tellable(await signIn(server, { email: each, password: wrongPassword })));
    }
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
  });

  test("and take the same time: a password is hashed for each of them", async () => {
    const { email } = await newAccount(server);
    const timed = async (address: string) => {
      const began = performance.now();
      assertRefused(await signIn(server, { email: address, password: wrongPassword }), 401);
      return performance.now() - began;
    };
    const known: number[] = [];
    const unknown: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      known.push(await timed(email));
      unknown.push(await timed(newEmail()));
    }
    // Without the hash, it would take less than a tenth.
    assert.ok(
      Math.min(...unknown) > Math.min(...known) / 3,
      `${unknown.join()} against ${known.join()}`,
    );
  });
});

suite("addresses", () => {
  test("the same address in capitals, with blanks or in another form is the same account", async () => {
    const account = await newAccount(server, { email: "Łukasz.Straße@Bücher.example" });
    for (const email of [
      "łukasz.straße@bücher.example",
      " ŁUKASZ.STRASSE@BÜCHER.EXAMPLE ",
      "łukasz.straße@xn--bcher-kva.example",
    ]) {
      const { cookie } = await signedIn(server, { ...account, email });
      const { body } = await read(cookie);
      assert.equal((body as { user: { id: string } }).user.id, account.userId, email);
    }
  });

  test("one that only looks the same is another one", async () => {
    const { password } = await newAccount(server, { email: "admin@example.com" });
    for (const email of [
      // A Cyrillic а, a small capital, a character that cannot be seen, full width, and more after the domain.
      "аdmin@example.com",
      "ᴀdmin@example.com",
      "ad\u200bmin@example.com",
      "ａdmin@example.com",
      "admin@example.com/x",
      "admin@example.com:443",
      "x@admin@example.com",
    ]) {
      assertRefused(await signIn(server, { email, password }), 401, "is wrong");
    }
  });
});

suite("the session", () => {
  test("a token that was there before signing in is not the one after, and is over", async () => {
    const { keys } = await server.environment();
    const account = await newAccount(server);
    const planted = `halyard_session=${"A".repeat(43)}`;
    const key = await signInWith(server, [keys.admin]);
    const other = await newAccount(server);
    for (const cookie of [planted, key.cookie, other.session.cookie]) {
      const answer = await signIn(server, account, { cookie });
      const begun = sessionOf(answer);
      assert.notEqual(begun.cookie, cookie);
      assertRefused(await read(cookie), 401, "has ended");
      assert.equal((await read(begun.cookie)).status, 200);
      // The rights of the one before are not taken along.
      assert.deepEqual(begun.environments, []);
      assert.deepEqual(setCookieOf(answer)?.attributes, [
        "HttpOnly",
        "Max-Age=43200",
        "Path=/",
        "SameSite=Strict",
      ]);
    }
  });

  test("it is never told where to go: an address to go on to is refused", async () => {
    const account = await newAccount(server);
    const { email, password } = account;
    for (const path of ["password", "invitation", "again"]) {
      const answer = await server.anonymous(
        "POST",
        `//session/${path}?to=https://evil.example`,
        { email, password },
        headersOf(account.session),
      );
      assertRefused(answer, 400);
      assert.equal(answer.headers.get("location"), null);
    }
    const body = { email, password, to: "//evil.example" };
    assertRefused(await server.anonymous("POST", "//session/password", body), 400, "to");
  });
});
