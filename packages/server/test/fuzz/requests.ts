// One operation of the document -> requests to it, from those that it was made for to those that nobody should send.
import fc, { type Arbitrary } from "fast-check";
import { type Body, bodiesFor } from "./bodies.ts";
import type { Operation, Parameter } from "./document.ts";
import type { Request } from "./exchange.ts";
import { proposalBodies } from "./proposals.ts";
import { queryOf } from "./queries.ts";
import { targetingBodies } from "./targeting.ts";
import type { Meanings } from "./values.ts";

/** What is there for the operation to find. */
export interface Place {
  readonly keys: Readonly<Record<"owner" | "admin" | "server" | "client", string>>;
  /** The session of an owner, for operations that no key can use. */
  readonly session: Headers | undefined;
  /** By the part of the path before it: what names something that exists. */
  readonly names: Readonly<Record<string, readonly string[]>>;
  readonly meanings: Meanings;
  /** The same for parameters of the query. */
  readonly parameters: Meanings;
}

type Headers = Readonly<Record<string, string | string[]>>;

const oddNames = [
  ...["missing", "%2F", "..%2F..%2Fkeys", "a%2Fb", "%2e%2e", "..", ".", "%00", "a%00b", "%0d%0a"],
  ...["%zz", "%", "%C0%80", "%ED%A0%80", "%F0%9F%9A%80", "%E2%82%AC", "__proto__", "constructor"],
  ...["*", "%20", "a%20b", "-", "'", "%22", ";", ":", "@", "a=b", "a,b", "(", "+", "~", "history"],
  ...["a".repeat(128), "a".repeat(129), "a".repeat(4_096), "a".repeat(4_097), "%41".repeat(2_000)],
];

const namesFor = (path: string, { name }: Parameter, { names }: Place): readonly string[] =>
  names[path.split("/").at(path.split("/").indexOf(`{${name}}`) - 1) ?? ""] ?? [];

const nameOf = (existing: readonly string[]): Arbitrary<string> => {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...existing, "none") },
    { weight: 3, arbitrary: fc.constantFrom(...oddNames) },
    {
      weight: 1,
      arbitrary: fc
        .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
        .map((text) => encodeURIComponent(text.toWellFormed())),
    },
  );
};

const tags = ["*", '"1"', '"2"', 'W/"1"', '"1", "2"', "1", '"', "", ",", '"\u00e9"', '"x" "y"'];
const oddHeaders: Readonly<Record<string, readonly string[]>> = {
  "if-match": [...tags, `"${"1".repeat(3_000)}"`, '"1",'.repeat(500)],
  "if-none-match": [...tags, '"0"', '"1",'.repeat(500)],
  "idempotency-key": ["a", "b", "c", "", " ", "\u00ff", "k".repeat(255), "k".repeat(256), "a, b"],
  "last-event-id": ["0", "1-a", "1-abc", "999999999999-zz", "-1", "x", "\u00ff", "9".repeat(400)],
  "x-request-id": ["mine", "", "a b", "<x>", "\u00e9", "r".repeat(129)],
  accept: ["text/html", "application/xml", "*/*;q=0", ""],
  "accept-encoding": ["gzip", "br;q=1, *;q=0", "\u00e9"],
  origin: ["null", "https://example.com", "\u00e9"],
  cookie: ["halyard_session=AAAA", "a=b; a=c", "__proto__=1", "halyard_session="],
  "sec-fetch-site": ["cross-site", "same-origin"],
  "x-forwarded-for": ["1.2.3.4", "::", "\u00e9"],
  "x-forwarded-host": ["evil.example"],
  "x-http-method-override": ["DELETE"],
  range: ["bytes=0-1"],
  te: ["trailers"],
  expect: ["100-continue", "nonsense"],
};

/** Headers with which requests succeed. */
const goodHeaders: Readonly<Record<string, Arbitrary<string>>> = {
  "if-match": fc.constant("*"),
  "idempotency-key": fc.nat().map((number) => `request-${number}`),
};

const oddHeader = fc
  .constantFrom(...Object.keys(oddHeaders))
  .chain((name) =>
    fc.constantFrom(...(oddHeaders[name] ?? [])).map((value): [string, string] => [name, value]),
  );

const allowing = (role: string | undefined, { keys }: Place): string =>
  role === "client" || role === "server" || role === "owner" ? keys[role] : keys.admin;

const goodKey = (operation: Operation, place: Place): Arbitrary<Headers> => {
  if (place.session) return fc.constant(place.session);
  const key = allowing(operation.role, place);
  return fc.constantFrom<Headers>(
    { authorization: `Bearer ${key}` },
    { "x-api-key": key },
    { authorization: `Bearer ${operation.role === "owner" ? key : place.keys.admin}` },
    { authorization: `bearer  ${key} `, "x-api-key": key },
  );
};

const anyKey = ({ keys: { admin, server, client } }: Place): Arbitrary<Headers> =>
  fc.constantFrom<Headers>(
    {},
    { authorization: `Bearer ${server}` },
    { authorization: `Bearer ${client}` },
    { authorization: `Bearer ${admin}`, "x-api-key": client },
    { authorization: "Bearer " },
    { authorization: "Bearer hal_x_y" },
    { authorization: `Bearer ${admin}x` },
    { authorization: `Bearer ${"a".repeat(4_000)}` },
    { authorization: `Basic ${Buffer.from(`a:${admin}`).toString("base64")}` },
    { authorization: admin },
    { authorization: "Bearer \u00e9\u00e9" },
    { "x-api-key": "" },
    { "x-api-key": [admin, admin] },
  );

const targetOf = (
  { path, parameters }: Operation,
  place: Place,
  isGood: boolean,
): Arbitrary<string> => {
  const inPath = parameters.filter(({ in: where }) => where === "path");
  const inQuery = parameters.filter(({ in: where }) => where === "query");
  const names = fc.tuple(
    ...inPath.map((parameter) => {
      const existing = namesFor(path, parameter, place);
      return isGood ? fc.constantFrom(...existing) : nameOf(existing);
    }),
  );
  return fc.tuple(names, queryOf(inQuery, place, isGood)).map(([given, query]) => {
    const filled = inPath.reduce(
      (text, { name }, index) => text.replace(`{${name}}`, () => given[index] ?? ""),
      path,
    );
    return query === "" ? filled : `${filled}?${query}`;
  });
};

const headersOf = ({ parameters }: Operation, isGood: boolean): Arbitrary<Headers> => {
  const declared = parameters.filter(({ in: where }) => where === "header");
  const some = fc.tuple(
    ...declared.map(({ name }) => {
      const odd = fc.constantFrom(...(oddHeaders[name] ?? ["x"]));
      return fc.option(isGood ? (goodHeaders[name] ?? odd) : odd, { nil: undefined, freq: 2 });
    }),
  );
  const odd = fc.array(oddHeader, { maxLength: isGood ? 0 : 3 });
  return fc.tuple(some, odd).map(([given, more]) => ({
    ...Object.fromEntries(
      declared.flatMap(({ name }, index) => {
        const value = given[index];
        return value === undefined ? [] : [[name, value]];
      }),
    ),
    ...Object.fromEntries(more),
  }));
};

/** Half of them as they should be; half of them broken somewhere. */
export const requestsTo = (operation: Operation, place: Place): Arbitrary<Request> => {
  const { method } = operation;
  const known = targetingBodies[operation.name] ?? proposalBodies[operation.name];
  const bodies = bodiesFor(operation.body, place.meanings, known);
  const good = goodKey(operation, place);
  const none = fc.constant<Body | undefined>(undefined);
  const make = (
    key: Arbitrary<Headers>,
    body: Arbitrary<Body | undefined>,
    isGoodTarget: boolean,
    isGoodHeaders: boolean,
  ): Arbitrary<Request> =>
    fc
      .tuple(
        targetOf(operation, place, isGoodTarget),
        key,
        headersOf(operation, isGoodHeaders),
        body,
      )
      .map(([target, keys, headers, sent]) => ({
        method,
        target,
        headers: {
          ...headers,
          ...keys,
          ...(sent?.type !== undefined && { "content-type": sent.type }),
          ...(sent?.encoding !== undefined && { "content-encoding": sent.encoding }),
        },
        body: sent?.bytes,
      }));
  return fc.oneof(
    { weight: 5, arbitrary: make(good, bodies.fitting, true, true) },
    { weight: operation.body ? 5 : 1, arbitrary: make(good, bodies.broken, true, true) },
    { weight: 2, arbitrary: make(good, bodies.fitting, false, true) },
    { weight: 2, arbitrary: make(good, bodies.fitting, true, false) },
    { weight: 1, arbitrary: make(anyKey(place), fc.oneof(bodies.fitting, none), true, true) },
    { weight: 1, arbitrary: make(anyKey(place), bodies.broken, false, false) },
  );
};
