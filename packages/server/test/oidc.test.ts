// Signing in with an OpenID Connect provider: the whole way against a real one, and every way in which it must not work.
import assert from "node:assert/strict";
import { after, before, beforeEach, suite, test } from "node:test";
import { ownPath } from "../src/features/people/sign-in/own-path.ts";
import { createJourney, type Journey } from "./support/browser-journey.ts";
import {
  type IdentityProvider,
  type IdTokenClaims,
  startIdentityProvider,
} from "./support/identity-provider.ts";
import { minute, movableClock } from "./support/movable-clock.ts";
import { type SingleSignOn, startSingleSignOn } from "./support/single-sign-on.ts";

const clock = movableClock();
let main: IdentityProvider;
let other: IdentityProvider;
let server: SingleSignOn;
before(async () => {
  main = await startIdentityProvider();
  other = await startIdentityProvider();
  server = await startSingleSignOn({ main, other }, {}, { clock: clock.clock });
});
after(() => Promise.all([server, main, other].map((each) => each.close())));
beforeEach(() => {
  main.people.set("ada", { name: "Ada", email: "ada@example.com", email_verified: true });
  main.visitor = "ada";
  main.tamper = undefined;
});

/** Up to the moment at which the provider sends the browser back. */
const comeBack = async (journey: Journey, provider = "main", query = ""): Promise<URL> => {
  const { url } = await journey.go(
    `${server.url}/sign-in/oidc/${provider}${query}`,
    ({ origin, pathname }) => origin === server.url && pathname.endsWith("/callback"),
  );
  return url;
};
const arrive = async (journey: Journey, url: URL): Promise<string> => {
  const { status, location } = await journey.step(url.href, { fromElsewhere: true });
  assert.equal(status, 303);
  return (location ?? "").slice(server.url.length);
};
const refusedWith = async (journey: Journey, url: URL, code: string): Promise<void> => {
  assert.equal(await arrive(journey, url), `/sign-in?failed=${code}`);
  assert.equal(await server.sessionOf(journey), undefined, "nobody is signed in");
};

test("somebody signs in, and has an account without a role", async () => {
  const journey = createJourney();
  const begun = await journey.step(`${server.url}/sign-in/oidc/main?to=%2Fhistory%3Fq%3Da`);
  assert.equal(begun.status, 303);
  const asked = new URL(begun.location ?? "");
  assert.equal(asked.origin, main.issuer);
  const { code_challenge_method, response_type, scope, redirect_uri, ...secrets } =
    Object.fromEntries(asked.searchParams);
  assert.deepEqual(
    [code_challenge_method, response_type, scope, redirect_uri],
    ["S256", "code", "openid profile email groups", `${server.url}/sign-in/oidc/main/callback`],
  );
  for (const name of ["state", "nonce", "code_challenge"]) {
    assert.match(secrets[name] ?? "", /^[\w-]{43}$/, name);
  }
  const [cookie, ...more] = journey.cookies;
  assert.deepEqual([cookie?.name, cookie?.isStrict, more], ["halyard_sign_in", false, []]);
  for (const secret of Object.values(secrets)) assert.ok(!cookie?.value.includes(secret));

  const { url } = await journey.go(
    asked.href,
    ({ origin, pathname }) => origin === server.url && pathname === "/history",
  );
  assert.equal(url.search, "?q=a");
  const session = await server.sessionOf(journey);
  assert.ok(session);
  const { method, isOwner, user, environments } = session;
  assert.deepEqual(
    { method, isOwner, name: user.name, email: user.email, environments },
    {
      method: "oidc:main",
      isOwner: false,
      name: "Ada",
      email: "ada@example.com",
      environments: [],
    },
  );
  assert.deepEqual(
    journey.cookies.filter(({ host }) => host === "127.0.0.1").map(({ name }) => name),
    ["halyard_session"],
    "the cookie of the way there is gone",
  );
  // The same person is the same account.
  const second = createJourney();
  await server.signIn(second, "main");
  assert.equal((await server.sessionOf(second))?.user.id, user.id);
});

suite("what does not come from the browser that began is refused", () => {
  test("another state", async () => {
    const journey = createJourney();
    const url = await comeBack(journey);
    url.searchParams.set("state", "A".repeat(43));
    await refusedWith(journey, url, "state");
  });
  test("no state", async () => {
    const journey = createJourney();
    const url = await comeBack(journey);
    url.searchParams.delete("state");
    await refusedWith(journey, url, "state");
  });
  test("a browser without the cookie, or with that of another way", async () => {
    const url = await comeBack(createJourney());
    await refusedWith(createJourney(), url, "state");
    const third = createJourney();
    await comeBack(third);
    await refusedWith(third, url, "state");
  });
  test("a cookie that was changed", async () => {
    const journey = createJourney();
    const url = await comeBack(journey);
    const cookie = journey.cookieFor(server.url);
    const flip = (at: number) => {
      const next = cookie[at] === "A" ? "B" : "A";
      return cookie.slice(0, at) + next + cookie.slice(at + 1);
    };
    const begin = cookie.indexOf("=") + 1;
    for (const at of [begin, begin + 20, begin + 60, cookie.length - 2]) {
      const answer = await fetch(url, { redirect: "manual", headers: { cookie: flip(at) } });
      assert.equal(answer.headers.get("location"), "/sign-in?failed=state");
    }
    const twice = `${cookie}; ${flip(begin)}`;
    const answer = await fetch(url, { redirect: "manual", headers: { cookie: twice } });
    assert.equal(answer.headers.get("location"), "/sign-in?failed=state", "of two nobody knows");
  });
  test("the cookie after ten minutes", async () => {
    const journey = createJourney();
    const url = await comeBack(journey);
    clock.forward(10 * minute);
    await refusedWith(journey, url, "state");
  });
  test("the same answer a second time, with and without the cookie", async () => {
    const journey = createJourney();
    const url = await comeBack(journey);
    const cookie = journey.cookieFor(url.href);
    assert.equal(await arrive(journey, url), "/");
    const again = await fetch(url, { redirect: "manual", headers: { cookie } });
    assert.equal(again.headers.get("location"), "/sign-in?failed=state");
    assert.deepEqual(
      again.headers.getSetCookie().filter((text) => text.startsWith("halyard_session")),
      [],
    );
    await refusedWith(createJourney(), url, "state");
  });
  test("a used code on a new way", async () => {
    const journey = createJourney();
    const used = await comeBack(journey);
    await arrive(journey, used);
    const next = createJourney();
    const url = await comeBack(next);
    url.searchParams.set("code", used.searchParams.get("code") ?? "");
    await refusedWith(next, url, "state");
  });
});

suite("an id token is refused", () => {
  const now = () => Math.floor(Date.now() / 1_000);
  const cases: [string, (claims: IdTokenClaims) => IdTokenClaims][] = [
    ["with another nonce", (claims) => ({ ...claims, nonce: "A".repeat(43) })],
    ["without a nonce", ({ nonce: _nonce, ...claims }) => claims],
    ["for another audience", (claims) => ({ ...claims, aud: "halyard-other" })],
    ["of another issuer", (claims) => ({ ...claims, iss: other.issuer })],
    ["that has expired", (claims) => ({ ...claims, exp: now() - 60 })],
    ["that is not good yet", (claims) => ({ ...claims, nbf: now() + 600 })],
    ["without a subject", ({ sub: _sub, ...claims }) => claims],
    ["of somebody else than the rest of the answer", (claims) => ({ ...claims, sub: "bob" })],
  ];
  for (const [name, tamper] of cases) {
    test(name, async () => {
      main.tamper = tamper;
      const journey = createJourney();
      await refusedWith(journey, await comeBack(journey), "provider");
    });
  }
  test("but not for clocks that differ by some seconds", async () => {
    main.tamper = (claims) => ({ ...claims, exp: now() - 5, iat: now() + 5 });
    const journey = createJourney();
    assert.equal(await arrive(journey, await comeBack(journey)), "/");
  });
  test("when the provider has withdrawn its key; a new key is good at once", async () => {
    const before = createJourney();
    assert.equal(await arrive(before, await comeBack(before)), "/");
    main.rotateKeys();
    const journey = createJourney();
    assert.equal(await arrive(journey, await comeBack(journey)), "/");
    main.rotateKeys({ signWithOld: true });
    const withOld = createJourney();
    await refusedWith(withOld, await comeBack(withOld), "provider");
    main.rotateKeys();
    assert.ok(await server.sessionOf(before), "who is signed in stays so");
  });
});

suite("two providers are not mixed up", () => {
  test("the answer of one is not that of the other", async () => {
    const journey = createJourney();
    const url = await comeBack(journey);
    const elsewhere = new URL(url.href.replace("/oidc/main/", "/oidc/other/"));
    await refusedWith(journey, elsewhere, "state");
  });
  test("an answer that names another issuer", async () => {
    const journey = createJourney();
    const url = await comeBack(journey);
    assert.equal(url.searchParams.get("iss"), main.issuer);
    url.searchParams.set("iss", other.issuer);
    await refusedWith(journey, url, "provider");
    const nameless = createJourney();
    const without = await comeBack(nameless);
    without.searchParams.delete("iss");
    await refusedWith(nameless, without, "provider");
  });
  test("the same subject at two providers is two people", async () => {
    other.visitor = "ada";
    other.people.set("ada", { name: "Ada", email: "ada@example.com", email_verified: true });
    const [here, there] = [createJourney(), createJourney()];
    await server.signIn(here, "main");
    await server.signIn(there, "other");
    const [one, two] = [await server.sessionOf(here), await server.sessionOf(there)];
    assert.ok(one && two);
    assert.notEqual(one.user.id, two.user.id);
    assert.deepEqual([one.user.email, two.user.email], ["ada@example.com", null], "it was taken");
  });
  test("one that is not set is not there", async () => {
    for (const path of ["/sign-in/oidc/none", "/sign-in/oidc/none/callback?code=a&state=b"]) {
      assert.equal((await server.anonymous("GET", `/${path}`)).status, 404);
    }
  });
});

test("somebody who says no comes back to the sign-in page", async () => {
  main.visitor = null;
  const journey = createJourney();
  await refusedWith(journey, await comeBack(journey), "denied");
});

test("nobody is sent elsewhere afterwards", async () => {
  const cases: [string, string][] = [
    ["/flags?a=b#c", "/flags?a=b#c"],
    ...[
      ...["https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example"],
      ...["/\t/evil.example", "/\n/evil.example", "/.//evil.example", "/a/..//evil.example"],
      ...["/%2e//evil.example", "javascript:alert(1)", "flags", "", `/${"a".repeat(2_000)}`],
    ].map((text): [string, string] => [text, "/"]),
  ];
  for (const [text, path] of cases) assert.equal(ownPath(text), path, JSON.stringify(text));
  for (const to of ["https://evil.example/", "/.//evil.example"]) {
    const journey = createJourney();
    assert.equal(
      await arrive(journey, await comeBack(journey, "main", `?to=${encodeURIComponent(to)}`)),
      "/",
    );
  }
});
