// The accounts of people who sign in with a provider: their groups give and take roles, and an identity is never an e-mail address.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { listAccess } from "../src/features/people/access-queries.ts";
import { listUsers } from "../src/features/people/queries.ts";
import { setRecoveryCodes, setSecondFactor } from "../src/features/people/sign-in/queries.ts";
import { createJourney } from "./support/browser-journey.ts";
import { type IdentityProvider, startIdentityProvider } from "./support/identity-provider.ts";
import { addPerson, type SignedIn, signInAs, withStore } from "./support/people.ts";
import { type SingleSignOn, startSingleSignOn } from "./support/single-sign-on.ts";

let provider: IdentityProvider;
let server: SingleSignOn;
let owner: SignedIn;
before(async () => {
  provider = await startIdentityProvider();
  const groups = {
    readers: { roles: { development: "viewer", production: "viewer" } },
    developers: { roles: { development: "editor" } },
    leads: { roles: { development: "admin", production: "editor", "not-there": "admin" } },
    platform: { owner: true },
  };
  server = await startSingleSignOn({ main: provider }, { main: { groups } });
  owner = await signInAs(server, { name: "Olga", owner: true });
});
after(() => Promise.all([server, provider].map((each) => each.close())));

let people = 0;
/** Somebody new, whom the provider is about to send. */
const newcomer = (claims: Parameters<IdentityProvider["people"]["set"]>[1] = {}) => {
  people += 1;
  const subject = `somebody-${people}`;
  const arrive = async (groups?: unknown, query = "") => {
    provider.people.set(subject, { name: subject, ...claims, groups });
    provider.visitor = subject;
    const journey = createJourney();
    const end = await server.signIn(journey, "main", query);
    const session = await server.sessionOf(journey);
    const roles = Object.fromEntries(
      session?.environments.map(({ name, role }) => [name, role]) ?? [],
    );
    return { end, journey, session, roles, id: session?.user.id ?? "" };
  };
  return { subject, arrive };
};
const change = (id: string, body: object) => owner.in("development")("PATCH", `/users/${id}`, body);

suite("groups", () => {
  test("give a role, raise it and take it, at each sign-in", async () => {
    const { arrive } = newcomer();
    assert.deepEqual((await arrive()).roles, {});
    assert.deepEqual((await arrive(["readers", "unknown"])).roles, {
      development: "viewer",
      production: "viewer",
    });
    // Of several groups the higher role counts; an environment that does not exist is passed over.
    assert.deepEqual((await arrive(["leads", "readers", "developers"])).roles, {
      development: "admin",
      production: "editor",
    });
    assert.deepEqual((await arrive("developers")).roles, { development: "editor" });
    const taken = await arrive([]);
    assert.deepEqual(taken.roles, {});
    assert.deepEqual(taken.session?.environments, [], "signed in all the same");
    for (const odd of [7, null, { readers: true }, [["readers"]], "__proto__"]) {
      assert.deepEqual((await arrive(odd)).roles, {}, JSON.stringify(odd));
    }
  });

  test("what was given by hand stays beneath, and counts when it is more", async () => {
    const { arrive } = newcomer();
    const { id } = await arrive();
    assert.equal((await change(id, { roles: { development: "editor" } })).status, 200);
    assert.deepEqual((await arrive(["readers"])).roles, {
      development: "editor",
      production: "viewer",
    });
    assert.equal((await arrive(["leads"])).roles.development, "admin");
    assert.deepEqual((await arrive([])).roles, { development: "editor" }, "the group took its own");
    assert.equal((await change(id, { roles: { development: null } })).status, 200);
    assert.deepEqual((await arrive([])).roles, {});
  });

  test("make owners, also of environments that are new, and unmake them", async () => {
    const { arrive } = newcomer();
    const { id } = await arrive();
    await change(id, { roles: { production: "viewer" } });
    const made = await arrive(["platform", "developers"]);
    assert.equal(made.session?.isOwner, true);
    assert.deepEqual(new Set(Object.values(made.roles)), new Set(["owner"]));
    const { name } = await server.environment();
    const again = await arrive(["platform"]);
    assert.equal(again.roles[name], "owner");
    const unmade = await arrive(["developers"]);
    assert.equal(unmade.session?.isOwner, false);
    assert.deepEqual(unmade.roles, { development: "editor", production: "viewer" });
    // An owner by hand stays one.
    assert.equal((await change(id, { owner: true })).status, 200);
    assert.equal((await arrive([])).session?.isOwner, true);
  });

  test("change nothing for those who have not changed: their streams go on", async () => {
    const { arrive } = newcomer();
    const { id } = await arrive(["leads"]);
    const access = () => withStore(server, (store) => listAccess(store, id));
    const before = await access();
    await arrive(["leads"]);
    assert.deepEqual(await access(), before);
  });

  test("take effect in sessions that are open, and stand in the history", async () => {
    const { arrive } = newcomer();
    const { journey, session, id } = await arrive(["developers"]);
    const headers = {
      cookie: journey.cookieFor(server.url),
      "x-halyard-environment": "development",
      "x-halyard-csrf": session?.csrf ?? "",
    };
    const read = async () => (await server.anonymous("GET", "/flags", undefined, headers)).status;
    assert.equal(await read(), 200);
    await arrive([]);
    assert.equal(await read(), 401);
    const history = await owner.in("development")("GET", `/history?subject=user&id=${id}`);
    const entries = history.body as HistoryEntry[];
    assert.deepEqual(
      entries.map(({ actions, actor }) => [actions, actor.name]),
      [
        [["user.removed"], "The main"],
        [["user.added"], "The main"],
      ],
    );
  });
});

interface HistoryEntry {
  readonly actions: readonly string[];
  readonly actor: { readonly name: string };
}

suite("an account", () => {
  test("of somebody else is not found by the e-mail address", async () => {
    const email = "grace@example.com";
    const id = await addPerson(server, { name: "Grace", email, roles: { production: "admin" } });
    const verified = await newcomer({ email, email_verified: true }).arrive();
    assert.notEqual(verified.id, id);
    assert.deepEqual([verified.session?.user.email, verified.roles], [null, {}]);
    const other = await newcomer({ email: "GRACE@example.com", email_verified: true }).arrive();
    assert.equal(other.session?.user.email, null);
    for (const claims of [
      { email: "eve@example.com" },
      { email: "eve@example.com", email_verified: false },
      { email: "no address", email_verified: true },
    ]) {
      const { session } = await newcomer(claims).arrive();
      assert.equal(session?.user.email, null, JSON.stringify(claims));
    }
  });

  test("has a name that can be read", async () => {
    const name = `Ma\u0000x\u202e ${"x".repeat(200)}`;
    const { session } = await newcomer({ name }).arrive();
    assert.equal(session?.user.name, `Max ${"x".repeat(96)}`);
    const nameless = newcomer({ name: "  " });
    assert.equal((await nameless.arrive()).session?.user.name, nameless.subject);
  });

  test("is one, also of somebody who comes several times at once", async () => {
    const { arrive } = newcomer();
    const all = await Promise.all(Array.from({ length: 5 }, () => arrive(["leads"])));
    assert.equal(new Set(all.map(({ id }) => id)).size, 1);
    assert.notEqual(all[0]?.id, "");
    const access = await withStore(server, (store) => listAccess(store, all[0]?.id ?? ""));
    assert.equal(access.length, 2);
  });

  test("that was removed is a new one without rights when they come back", async () => {
    const { arrive } = newcomer();
    const { id, journey } = await arrive();
    await change(id, { roles: { development: "admin" } });
    assert.equal((await owner.in("development")("DELETE", `/users/${id}`)).status, 204);
    assert.equal(await server.sessionOf(journey), undefined);
    const back = await arrive();
    assert.notEqual(back.id, id);
    assert.deepEqual(back.roles, {});
  });
});

suite("an invitation", () => {
  const invite = async (name: string) => {
    const body = { name, roles: { production: "editor" } };
    const made = await owner.in("development")("POST", "/users", body);
    assert.equal(made.status, 201, made.text);
    const { id, invitation } = made.body as { id: string; invitation: { url: string } };
    const token = new URL(invitation.url).searchParams.get("token") ?? "";
    return { id, query: `?invitation=${token}` };
  };

  test("binds the identity to the person who was invited, once", async () => {
    const { id, query } = await invite("Hedy");
    const { arrive } = newcomer();
    const came = await arrive(["developers"], query);
    assert.equal(came.id, id);
    assert.deepEqual(came.roles, { development: "editor", production: "editor" });
    assert.equal((await arrive()).id, id, "next time without it");
    const second = await newcomer().arrive([], query);
    assert.equal(second.end.search, "?link=expired");
    assert.equal(second.session, undefined);
  });

  test("of many who accept it at once one is let in", async () => {
    const { query } = await invite("Mary");
    const all = [];
    // Each has been to the provider before anybody comes back.
    for (let count = 0; count < 4; count += 1) {
      provider.visitor = newcomer().subject;
      const journey = createJourney();
      const { url } = await journey.go(`${server.url}/sign-in/oidc/main${query}`, ({ pathname }) =>
        pathname.endsWith("/callback"),
      );
      all.push({ journey, url });
    }
    const ends = await Promise.all(
      all.map(({ journey, url }) => journey.step(url.href, { fromElsewhere: true })),
    );
    const places = ends.map(({ location }) => (location ?? "").slice(server.url.length)).sort();
    assert.deepEqual(places, ["/", ...Array.from({ length: 3 }, () => "/sign-in?link=expired")]);
  });

  test("binds no new identity to somebody with a second factor, which nobody goes around", async () => {
    const { id, query } = await invite("Jean");
    const { arrive } = newcomer();
    assert.equal((await arrive([], query)).id, id);
    const again = await owner.in("development")("POST", `/users/${id}/invitation`);
    const { url } = again.body as { url: string };
    const another = `?invitation=${new URL(url).searchParams.get("token")}`;
    await withStore(server, (store) =>
      store.transact(async (transaction) => {
        await setSecondFactor(transaction, id, new Uint8Array(20));
        await setRecoveryCodes(transaction, id, []);
      }),
    );
    const thief = await newcomer().arrive([], another);
    assert.equal(thief.end.search, "?failed=no-access");
    assert.equal(thief.session, undefined);
    // It was not used up, and the identity that was theirs before is good.
    assert.equal((await arrive([], another)).id, id);
  });

  test("stays good when somebody tries it who has an account", async () => {
    const { id, query } = await invite("Joan");
    const known = newcomer();
    await known.arrive();
    assert.equal((await known.arrive([], query)).end.search, "?failed=no-access");
    assert.equal((await newcomer().arrive([], query)).id, id);
  });

  test("is not accepted from a page of somebody else", async () => {
    const { query } = await invite("Ruth");
    const path = `${server.url}/sign-in/oidc/main${query}`;
    const { location } = await createJourney().step(path, { fromElsewhere: true });
    assert.equal(location, `${server.url}/sign-in?failed=state`);
    const two = await createJourney().step(`${path}&invitation=second`);
    assert.equal(two.location, `${server.url}/sign-in?failed=state`, "of two nobody knows which");
  });
});

test("who lacks a claim that the settings require gets neither in nor an account", async (t) => {
  const requiredClaims = { groups: ["staff", "contractors"] };
  const strict = await startSingleSignOn({ strict: provider }, { strict: { requiredClaims } });
  t.after(() => strict.close());
  const count = () => withStore(strict, async (store) => (await listUsers(store)).length);
  for (const [groups, isIn] of [
    [undefined, false],
    [["staff-of-others"], false],
    [["contractors"], true],
    ["staff", true],
  ] as const) {
    provider.people.set("pat", { groups });
    provider.visitor = "pat";
    const journey = createJourney();
    const { search } = await strict.signIn(journey, "strict");
    assert.equal(search, isIn ? "" : "?failed=no-access");
    assert.equal((await strict.sessionOf(journey)) !== undefined, isIn);
    assert.equal(await count(), isIn ? 1 : 0);
  }
});
