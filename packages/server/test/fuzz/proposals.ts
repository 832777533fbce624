// Bodies of operations whose fields depend on each other in ways that a schema can't say.
import fc, { type Arbitrary } from "fast-check";
import { flagPatches } from "./targeting.ts";

const soon = fc
  .integer({ min: 1, max: 300 })
  .map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
const text = fc.constantFrom("An incident", "100 % & more", "\u00fc \u{1f389}");

const operations = fc.uniqueArray(flagPatches, {
  minLength: 1,
  maxLength: 4,
  selector: ({ key }) => key,
});
const proposal = { operations, reason: text, applyAt: fc.option(soon) };

const key = {
  name: text,
  role: fc.constantFrom("client", "server", "editor"),
  expiresAt: soon,
};
const named = { label: fc.option(text) };
/** Few: every owner has access to every environment. */
const newEnvironment = fc.nat(30).map((number) => `new-${number}`);

const email = fc.nat().map((number) => `person-${number}@example.com`);
/** Few owners: each gets access to every environment, which takes as long as many other requests. */
const owner = fc.nat(40).map((number) => number === 0);
const person = { name: text, email: fc.option(email), owner, roles: fc.constant({}) };

/** By the name of the operation. */
export const proposalBodies: Readonly<Record<string, Arbitrary<unknown>>> = {
  "POST /api/v1/change-requests": fc.record(proposal, { requiredKeys: ["operations"] }),
  "PATCH /api/v1/change-requests/{id}": fc.record(proposal, { requiredKeys: ["operations"] }),
  "POST /api/v1/environments": fc.oneof(
    fc.record({ name: newEnvironment, ...named }, { requiredKeys: ["name"] }),
    fc.record({ name: newEnvironment, expiresAt: soon }),
    fc.record({ name: newEnvironment, expiresIn: fc.constantFrom("1h", "3d") }),
  ),
  "POST /api/v1/keys": fc.oneof(
    fc.record(key),
    fc.record({
      name: text,
      role: fc.constant("client"),
      origins: fc.constantFrom(["https://example.com"], null),
    }),
  ),
  "POST /api/v1/personal-keys": fc.record(key),
  "POST /api/v1/users": fc.record(person, { requiredKeys: ["name"] }),
  "PATCH /api/v1/users/{id}": fc.record(person, { requiredKeys: [] }),
};
