// Subjects of identity providers: a subject that can't be compared or stored is rejected.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { listUsers } from "../src/features/people/queries.ts";
import { createJourney } from "./support/browser-journey.ts";
import { type IdentityProvider, startIdentityProvider } from "./support/identity-provider.ts";
import { withStore } from "./support/people.ts";
import { type SingleSignOn, startSingleSignOn } from "./support/single-sign-on.ts";

let provider: IdentityProvider;
let server: SingleSignOn;
before(async () => {
  provider = await startIdentityProvider();
  server = await startSingleSignOn({ main: provider });
});
after(() => Promise.all([server, provider].map((each) => each.close())));

const arrive = async (subject: string) => {
  provider.people.set(subject, { name: "Eve" });
  provider.visitor = subject;
  const journey = createJourney();
  const { search } = await server.signIn(journey, "main");
  return { search, id: (await server.sessionOf(journey))?.user.id };
};

test("two subjects that are not well-formed do not become one account", async () => {
  for (const subject of ["who\ud800", "who\ud801", "who\udc00", "who\u0000"]) {
    const { search, id } = await arrive(subject);
    assert.deepEqual([search, id], ["?failed=subject", undefined], JSON.stringify(subject));
  }
  assert.equal(await withStore(server, async (store) => (await listUsers(store)).length), 0);
});

test("a subject has at most 255 characters", async () => {
  for (const length of [256, 5_000]) {
    // Text that does not compress.
    const { search, id } = await arrive(
      Array.from({ length: 80 }, (_, at) => createHash("sha256").update(`${at}`).digest("hex"))
        .join("")
        .slice(0, length),
    );
    assert.deepEqual([search, id], ["?failed=subject", undefined]);
  }
  const longest = "é".repeat(255);
  const { search, id } = await arrive(longest);
  assert.equal(search, "");
  assert.notEqual(id, undefined);
  assert.equal((await arrive(longest)).id, id, "the same account");
});
