// One human with several ways to sign in: a second account gets no roles automatically and can't approve the first one's changes.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { createSecretCipher } from "../src/platform/database/secrets/secret-cipher.ts";
import { goodPassword, newAccount, signedIn } from "./support/accounts.ts";
import { assertRefused } from "./support/answers.ts";
import type { Api } from "./support/api.ts";
import { createJourney } from "./support/browser-journey.ts";
import { readContents, readRows, writeRows } from "./support/database.ts";
import { type IdentityProvider, startIdentityProvider } from "./support/identity-provider.ts";
import { type SignedIn, signInAs } from "./support/people.ts";
import { act, propose, type Request, setProtected } from "./support/protected.ts";
import { type SingleSignOn, startSingleSignOn } from "./support/single-sign-on.ts";

let providers: readonly IdentityProvider[];
let server: SingleSignOn;
let owner: SignedIn;
before(async () => {
  providers = await Promise.all([startIdentityProvider(), startIdentityProvider()]);
  const [one, two] = providers as [IdentityProvider, IdentityProvider];
  const groups = { developers: { roles: { production: "editor" } }, leads: { owner: true } };
  server = await startSingleSignOn({ one, two }, { one: { groups }, two: { groups } });
  owner = await signInAs(server, { name: "Olga", owner: true });
  const asOwner = owner.in("production");
  await asOwner("POST", "/flags", { key: "checkout", type: "boolean" });
  await setProtected(server, "production", true);
});
after(() => Promise.all([server, ...providers].map((each) => each.close())));

let people = 0;
const newAddress = () => {
  people += 1;
  return `human-${people}@example.com`;
};

/** Signs in with a provider, and calls as this account in production. */
const arrive = async (
  name: "one" | "two",
  subject: string,
  claims: object,
): Promise<{ readonly id: string; readonly roles: Readonly<Record<string, string>>; api: Api }> => {
  const provider = providers[name === "one" ? 0 : 1];
  assert.ok(provider);
  provider.people.set(subject, { name: subject, groups: ["developers"], ...claims });
  provider.visitor = subject;
  const journey = createJourney();
  await server.signIn(journey, name);
  const session = await server.sessionOf(journey);
  const headers = {
    cookie: journey.cookieFor(server.url),
    "x-halyard-environment": "production",
    "x-halyard-csrf": session?.csrf ?? "",
  };
  return {
    id: session?.user.id ?? "",
    roles: Object.fromEntries(session?.environments.map((each) => [each.name, each.role]) ?? []),
    api: (method, path, body, more) =>
      server.anonymous(method, path, body, { ...headers, ...more }),
  };
};

const verified = (email: string) => ({ email, email_verified: true });
let changes = 0;
const change = () => {
  changes += 1;
  return { description: `change ${changes}` };
};
const asOwner = () => owner.in("production");

test("by password and by single sign-on with the same address", async () => {
  const email = newAddress();
  const roles = { production: "editor" } as const;
  const account = await newAccount(server, { email, roles });
  const password = await signedIn(server, { email, password: goodPassword });
  const asPassword: Api = (method, path, body) =>
    server.anonymous(method, path, body, password.headersFor("production"));
  const made = await propose(asPassword, change());

  // Regardless of the provider's spelling.
  const claims = verified(email.toUpperCase());
  const second = await arrive("one", `sso-${email}`, claims);
  assert.notEqual(second.id, account.userId);
  assert.deepEqual(second.roles, {}, "groups give nothing");
  assert.equal((await act(second.api, made, "approve")).status, 401);
  const listed = (await asOwner()("GET", "/users")).body as { id: string; sameAddress: string[] }[];
  const shown = listed.find(({ id }) => id === second.id);
  assert.deepEqual(shown?.sameAddress, [account.userId]);

  // An owner can still assign roles; the account stays the same human's.
  const given = await asOwner()("PATCH", `/users/${second.id}`, { roles });
  assert.equal(given.status, 200, given.text);
  assertRefused(await act(second.api, made, "approve"), 403, "same e-mail address", "bypass");
  assertRefused(await act(second.api, made, "refuse", {}), 403, "same e-mail address");

  const link = { account: account.userId };
  const linked = await asOwner()("POST", `/users/${second.id}/linked`, link);
  assert.equal(linked.status, 200, linked.text);
  assert.deepEqual((linked.body as { linked: string[] }).linked, [account.userId]);
  await asOwner()("PATCH", `/users/${second.id}`, { roles: { production: null } });
  const back = await arrive("one", `sso-${email}`, claims);
  assert.deepEqual(back.roles, roles, "the groups give roles to linked accounts");
  assertRefused(await act(back.api, made, "approve"), 403, "an owner linked the two");

  const unlinked = await asOwner()("DELETE", `/users/${second.id}/linked`);
  assert.deepEqual((unlinked.body as { linked: string[] }).linked, []);
  assert.deepEqual((await arrive("one", `sso-${email}`, claims)).roles, {});
});

test("through two providers; the account that had the address first keeps its roles", async () => {
  const email = newAddress();
  const first = await arrive("one", `first-${email}`, verified(email));
  assert.deepEqual(first.roles, { production: "editor" });
  const made = await propose(first.api, change());
  const second = await arrive("two", `second-${email}`, verified(email));
  assert.deepEqual(second.roles, {});
  assert.equal((await arrive("one", `first-${email}`, verified(email))).roles.production, "editor");
  const lead = { ...verified(email), groups: ["leads"] };
  assert.deepEqual((await arrive("two", `second-${email}`, lead)).roles, {}, "no owner either");
  await asOwner()("PATCH", `/users/${second.id}`, { roles: { production: "admin" } });
  assertRefused(await act(second.api, made, "approve"), 403, "same e-mail address");
});

test("with an address that was changed at the provider since, or by an owner", async () => {
  const [email, later] = [newAddress(), newAddress()];
  const first = await arrive("one", `old-${email}`, verified(email));
  const made = await propose(first.api, change());
  await arrive("two", `new-${email}`, verified(email));
  const moved = await arrive("two", `new-${email}`, verified(later));
  assert.deepEqual(moved.roles, {}, "it had the address of the first");
  await asOwner()("PATCH", `/users/${first.id}`, { email: newAddress() });
  const again = await arrive("two", `new-${email}`, verified(later));
  assert.deepEqual(again.roles, {});
  await asOwner()("PATCH", `/users/${again.id}`, { roles: { production: "editor" } });
  assertRefused(await act(again.api, made, "approve"), 403, "same e-mail address");
  for (const [place, content] of await readContents(server)) {
    assert.ok(!content.includes(later), `${place} has an address that is only compared`);
  }
});

test("another human with another address approves; one without a verified address is not compared", async () => {
  const author = await arrive("one", "author", verified(newAddress()));
  const other = await arrive("two", "other", verified(newAddress()));
  const made = await propose(author.api, change());
  assert.equal(((await act(other.api, made, "approve")).body as Request).state, "applied");
  const email = newAddress();
  const holder = await arrive("one", "holder", verified(email));
  const tagged = await arrive("two", "tagged", verified(email.replace("@", "+work@")));
  assert.deepEqual(tagged.roles, holder.roles);
  const unproven = await arrive("two", "unproven", { email, email_verified: false });
  assert.deepEqual(unproven.roles, holder.roles);
});

test("accounts of earlier versions are compared from the next sign-in on", async () => {
  const email = newAddress();
  const roles = { production: "editor" } as const;
  const account = await signInAs(server, { name: "Grace", email, roles });
  const subject = `upgraded-${email}`;
  const before = await arrive("one", subject, { email });
  assert.deepEqual(before.roles, roles, "no verified address yet");
  for (const table of ["user_addresses", "installation"]) {
    await writeRows(server, `delete from ${table} where 1 = ?`, 1);
  }
  const made = await propose(account.in("production"), change());
  assert.deepEqual((await arrive("one", subject, verified(email))).roles, {}, "taken again");
  await asOwner()("PATCH", `/users/${before.id}`, { roles });
  assertRefused(await act(before.api, made, "approve"), 403, "same e-mail address");
});

test("an account whose address was removed with another one gets the roles of its groups", async () => {
  const email = newAddress();
  const first = await arrive("one", `gone-${email}`, verified(email));
  assert.deepEqual((await arrive("two", `stays-${email}`, verified(email))).roles, {});
  assert.equal((await asOwner()("DELETE", `/users/${first.id}`)).status, 204);
  assert.deepEqual((await arrive("two", `stays-${email}`, verified(email))).roles, {
    production: "editor",
  });
});

test("where the secret key of the addresses is missing, a provider's sign-in fails and erases nothing", async () => {
  const email = newAddress();
  await arrive("one", `kept-${email}`, verified(email));
  const addresses = () => readRows(server, "select * from user_addresses order by user_id, hash");
  const known = await addresses();
  const [row] = await readRows(server, "select address_key from installation");
  const setKey = (key: Uint8Array) =>
    writeRows(server, "update installation set address_key = ?", key);
  await setKey(createSecretCipher([randomBytes(32)]).seal("another key", "installation"));
  const { status, text } = await createJourney().go(`${server.url}/sign-in/oidc/one`);
  assert.equal(status, 503, text);
  assert.match(text, /secret key/);
  assert.deepEqual(await addresses(), known);
  await setKey(row?.address_key as Uint8Array);
  assert.equal((await arrive("one", `kept-${email}`, verified(email))).roles.production, "editor");
});
