// Sessions of people who have signed in with a provider: fresh sign-ins, signing out, and a provider that is down.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, beforeEach, suite, test } from "node:test";
import { createJourney } from "./support/browser-journey.ts";
import { readContents } from "./support/database.ts";
import { serveHalyard } from "./support/halyard-process.ts";
import { type IdentityProvider, startIdentityProvider } from "./support/identity-provider.ts";
import { logLines, logText } from "./support/log-lines.ts";
import { minute, movableClock } from "./support/movable-clock.ts";
import { newFolder } from "./support/server.ts";
import {
  type SingleSignOn,
  singleSignOnSettings,
  startSingleSignOn,
} from "./support/single-sign-on.ts";

const clock = movableClock();
let main: IdentityProvider;
let server: SingleSignOn;
before(async () => {
  main = await startIdentityProvider();
  // As after a start while it is down: nobody has asked it anything yet.
  await main.shut();
  const groups = {
    developers: { roles: { development: "editor" } },
    platform: { owner: true },
  };
  server = await startSingleSignOn({ main }, { main: { groups } }, { clock: clock.clock });
});
after(() => Promise.all([server, main].map((each) => each.close())));
beforeEach(() => {
  main.people.set("ada", { name: "Ada", groups: ["developers"] });
  main.visitor = "ada";
  main.tamper = undefined;
});

test("the sign-in page learns of the providers", async () => {
  const { body } = await server.anonymous("GET", "//session/ways");
  assert.deepEqual(body, { password: false, providers: [{ id: "main", name: "The main" }] });
});

test("a provider that is down keeps nobody out but those who want to sign in with it", async () => {
  const isDown = async () => {
    const { status, location } = await createJourney().step(`${server.url}/sign-in/oidc/main`);
    assert.deepEqual([status, location], [303, `${server.url}/sign-in?failed=provider`]);
  };
  const { keys, name } = await server.environment();
  await isDown();
  await main.open();
  const journey = createJourney();
  await server.signIn(journey, "main");
  const before = await server.sessionOf(journey);
  assert.deepEqual(
    before?.environments.map(({ role }) => role),
    ["editor"],
  );

  const leaving = createJourney();
  const { url } = await leaving.go(`${server.url}/sign-in/oidc/main`, ({ pathname }) =>
    pathname.endsWith("/callback"),
  );
  await main.shut();
  await isDown();
  const { location } = await leaving.step(url.href, { fromElsewhere: true });
  assert.equal(location, `${server.url}/sign-in?failed=provider`, "down while somebody was there");
  assert.deepEqual(await server.sessionOf(journey), before, "who is signed in stays so");
  const person = {
    cookie: journey.cookieFor(server.url),
    "x-halyard-environment": "development",
    "x-halyard-csrf": before?.csrf ?? "",
  };
  const flag = { key: "made-meanwhile", type: "boolean" };
  assert.equal((await server.anonymous("POST", "/flags", flag, person)).status, 201);
  assert.equal((await server.api(keys.server)("GET", "/flags")).status, 200, name);
  await main.open();
  assert.equal((await server.signIn(createJourney(), "main")).pathname, "/");
});

suite("a fresh sign-in", () => {
  test("is asked of the same person, and gives a new token", async () => {
    const journey = createJourney();
    await server.signIn(journey, "main");
    const before = await server.sessionOf(journey);
    const cookie = journey.cookieFor(server.url);
    clock.forward(20 * minute);
    const { location } = await journey.step(`${server.url}/sign-in/oidc/main?again=1`);
    const asked = new URL(location ?? "").searchParams;
    assert.deepEqual([asked.get("prompt"), asked.get("max_age")], ["login", "0"]);
    assert.equal((await server.signIn(journey, "main", "?again=1&to=/keys")).pathname, "/keys");
    const now = await server.sessionOf(journey);
    assert.ok(before && now);
    assert.equal(now.user.id, before.user.id);
    assert.ok(Date.parse(now.signedInAt) - Date.parse(before.signedInAt) >= 20 * minute);
    const old = await server.anonymous("GET", "//session", undefined, { cookie });
    assert.equal(old.status, 401, "the token that was known before is no longer good");
  });
  test("opens what is dangerous to those whom the provider has known for longer", async () => {
    main.people.set("ada", { name: "Ada", groups: ["platform"] });
    const journey = createJourney();
    main.tamper = (claims) => ({ ...claims, auth_time: Math.floor(Date.now() / 1_000) - 3_600 });
    await server.signIn(journey, "main");
    main.tamper = undefined;
    const inviteSomebody = async () => {
      const { csrf = "" } = (await server.sessionOf(journey)) ?? {};
      const cookie = journey.cookieFor(server.url);
      return server.anonymous(
        "POST",
        "/users",
        { name: "Bob" },
        {
          cookie,
          "x-halyard-environment": "development",
          "x-halyard-csrf": csrf,
        },
      );
    };
    const refused = await inviteSomebody();
    assert.equal(refused.status, 403, refused.text);
    assert.match(refused.text, /SIGN_IN_AGAIN/);
    await server.signIn(journey, "main", "?again=1");
    assert.equal((await inviteSomebody()).status, 201);
  });
  test("of somebody else changes nothing", async () => {
    const journey = createJourney();
    await server.signIn(journey, "main");
    const before = await server.sessionOf(journey);
    main.visitor = "bob";
    journey.forget("localhost");
    const end = await server.signIn(journey, "main", "?again=1");
    assert.equal(end.search, "?failed=no-access");
    assert.deepEqual(await server.sessionOf(journey), before);
  });
  test("that the provider remembers from before is none", async () => {
    const journey = createJourney();
    await server.signIn(journey, "main");
    const before = await server.sessionOf(journey);
    main.tamper = (claims) => ({ ...claims, auth_time: Number(claims.auth_time) - 600 });
    assert.equal((await server.signIn(journey, "main", "?again=1")).search, "?failed=provider");
    main.tamper = ({ auth_time: _time, ...claims }) => claims;
    assert.equal((await server.signIn(journey, "main", "?again=1")).search, "?failed=provider");
    assert.deepEqual(await server.sessionOf(journey), before);
  });
  test("is not what the provider does for somebody whom it knows already", async () => {
    const journey = createJourney();
    const signedInAt = async () => Date.parse((await server.sessionOf(journey))?.signedInAt ?? "");
    const now = Math.floor(Date.now() / 1_000);
    main.tamper = (claims) => ({ ...claims, auth_time: now - 3_600 });
    await server.signIn(journey, "main");
    assert.equal(await signedInAt(), (now - 3_600) * 1_000, "as the provider says");
    main.tamper = (claims) => ({ ...claims, auth_time: now + 86_400 });
    await server.signIn(journey, "main");
    assert.ok((await signedInAt()) <= clock.clock().getTime(), "never in the future");
    main.tamper = ({ auth_time: _time, ...claims }) => claims;
    await server.signIn(journey, "main");
    assert.equal(await signedInAt(), 0, "the provider does not say");
  });
  test("is assumed where the settings say that the provider never tells", async (t) => {
    const settings = { lax: { authTime: "assumed" } };
    const lax = await startSingleSignOn({ lax: main }, settings);
    t.after(() => lax.close());
    const journey = createJourney();
    main.tamper = ({ auth_time: _time, ...claims }) => claims;
    await lax.signIn(journey, "lax");
    const first = await lax.sessionOf(journey);
    assert.equal(Date.parse(first?.signedInAt ?? ""), 0, "nobody was asked for a fresh one");
    assert.equal((await lax.signIn(journey, "lax", "?again=1")).pathname, "/");
    const second = await lax.sessionOf(journey);
    assert.ok(Date.parse(second?.signedInAt ?? "") > Date.now() - 60 * minute);
  });
  test("is for those who are signed in, and for pages of ours", async () => {
    const path = `${server.url}/sign-in/oidc/main?again=1`;
    const stranger = await createJourney().step(path);
    assert.equal(stranger.location, `${server.url}/sign-in?failed=state`);
    const journey = createJourney();
    await server.signIn(journey, "main");
    const { location } = await journey.step(path, { fromElsewhere: true });
    assert.equal(location, `${server.url}/sign-in?failed=state`);
  });
});

test("the log tells who has signed in and why it failed, and no secret", async (t) => {
  const folder = newFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const halyard = await serveHalyard(folder, {
    ...(await singleSignOnSettings(folder, { logged: main })),
    HALYARD_ACCESS_LOG: "on",
    HALYARD_LOG_LEVEL: "trace",
  });
  const journey = createJourney();
  const secrets: string[] = [];
  for (const visitor of ["ada", null]) {
    main.visitor = visitor;
    journey.forget("localhost");
    const { url } = await journey.go(`${halyard.url}/sign-in/oidc/logged`, ({ pathname }) =>
      pathname.endsWith("/callback"),
    );
    secrets.push(...url.searchParams.getAll("code"), ...url.searchParams.getAll("state"));
    secrets.push(...journey.cookies.map(({ value }) => value).filter((value) => value.length > 20));
    await journey.step(url.href, { fromElsewhere: true });
  }
  secrets.push(...main.idTokens.slice(-1), ...journey.cookies.map(({ value }) => value));
  halyard.kill("SIGTERM");
  const { stdout } = await halyard.ended;
  const lines = logLines(stdout).filter(({ audit }) => audit?.startsWith("session."));
  assert.deepEqual(
    lines.map(({ audit, method, address }) => [audit, method, address]),
    [
      ["session.began", "oidc:logged", "127.0.0.1"],
      ["session.failed", "oidc:logged", "127.0.0.1"],
    ],
  );
  assert.match(lines[0]?.userId ?? "", /^usr_/);
  assert.match(logText(stdout), /"problem":"[^"]*access_denied/);
  for (const secret of secrets) assert.ok(!stdout.includes(secret), secret);
});

test("signing out ends the session, and says where to sign out at the provider", async () => {
  const journey = createJourney();
  await server.signIn(journey, "main");
  const signOut = async () => {
    const { csrf = "" } = (await server.sessionOf(journey)) ?? {};
    const cookie = journey.cookieFor(server.url);
    return server.anonymous("DELETE", "//session", undefined, { cookie, "x-halyard-csrf": csrf });
  };
  const idToken = main.idTokens.at(-1) ?? "";
  for (const [place, content] of await readContents(server)) {
    assert.ok(!content.includes(idToken), `the id token is readable in ${place}`);
  }
  const answer = await signOut();
  assert.equal(answer.status, 200, answer.text);
  const url = new URL((answer.body as { signOutUrl: string }).signOutUrl);
  assert.equal(url.origin, main.issuer);
  assert.equal(url.searchParams.get("id_token_hint"), idToken);
  assert.equal(url.searchParams.get("post_logout_redirect_uri"), `${server.url}/sign-in`);
  assert.equal(await server.sessionOf(journey), undefined);
  assert.equal((await journey.step(url.href)).status, 200, "the provider asks to confirm it");

  await server.signIn(journey, "main");
  await main.shut();
  try {
    const alone = await signOut();
    assert.equal(alone.status, 204, "the provider is down");
    assert.equal(await server.sessionOf(journey), undefined);
  } finally {
    await main.open();
  }
});
