// The description of the API in forms that generators of clients understand; npm run clients runs the generators.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Describing } from "./support/described.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
let document: Describing;
before(async () => {
  server = await startTestServer();
  document = (await server.anonymous("GET", "//openapi.json")).body as Describing;
});
after(() => server.close());

/** Each object of the document, with its place. */
function* objectsIn(
  value: unknown,
  where = "",
): Generator<readonly [string, Readonly<Record<string, unknown>>]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [where, value as Readonly<Record<string, unknown>>];
  for (const [name, inner] of Object.entries(value)) yield* objectsIn(inner, `${where}/${name}`);
}

test("every enum has the type of its values", () => {
  let enums = 0;
  for (const [where, { enum: values, type }] of objectsIn(document)) {
    if (!Array.isArray(values)) continue;
    enums += 1;
    for (const each of values) assert.equal(typeof each, type, where);
  }
  assert.ok(enums >= 20);
});

test("the schemas have the forms that generators of clients understand", () => {
  let arrays = 0;
  for (const [where, { type, items }] of objectsIn(document)) {
    const types = [type].flat().filter((each) => each !== "null");
    // What several types share, anyOf says.
    assert.ok(types.length <= 1, `${where} has the types ${types.join(", ")}`);
    if (types[0] !== "array") continue;
    arrays += 1;
    assert.equal(typeof items, "object", `${where} does not say what is in the list`);
  }
  assert.ok(arrays >= 20);
  // A schema that refers to itself has a name for each of its parts.
  let unions = 0;
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    const { anyOf: parts = [] } = schema as { readonly anyOf?: readonly object[] };
    if (!JSON.stringify(parts).includes('"$ref"')) continue;
    unions += 1;
    for (const part of parts) assert.deepEqual(Object.keys(part), ["$ref"], name);
  }
  assert.equal(unions, 2, "Flag and Condition");
});
