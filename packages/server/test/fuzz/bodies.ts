// The bytes of bodies: as an operation wants them, and broken in every way that a sender or an attacker has found.
import fc, { type Arbitrary } from "fast-check";
import type { Schema } from "./document.ts";
import { fitting, junk, type Meanings } from "./values.ts";

export interface Body {
  readonly bytes: Buffer;
  readonly type: string | undefined;
  readonly encoding?: string;
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** One field of an object, chosen by a number: replaced, taken out, or joined by one that is not known. */
const withOneWrong = (value: unknown, at: number, wrong: unknown, how: number): unknown => {
  if (!isFields(value)) return wrong;
  const names = Object.keys(value);
  const name = names[at % Math.max(1, names.length)];
  if (name === undefined || how === 0) return { ...value, [`unknown-${at % 7}`]: wrong };
  if (how === 1) return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
  const inner = value[name];
  const deeper = how === 2 && isFields(inner) ? withOneWrong(inner, at, wrong, 3) : wrong;
  return { ...value, [name]: deeper };
};

/** What can be done to the text of a body; `at` chooses the place. */
const damages: readonly ((text: string, at: number) => string | Buffer)[] = [
  (text, at) => text.slice(0, at % Math.max(1, text.length)),
  (text) => `${text}${text}`,
  (text) => `${text} // comment`,
  (text) => `\ufeff${text}`,
  (text) => text.replaceAll('"', "'"),
  (text) => text.replace("{", '{"key":1,"key":2,'),
  (text) => text.replace("{", '{"description":null,"description":null,'),
  (text) => text.replace("{", '{"__proto__":{"role":"admin"},'),
  (text) => text.replace("{", '{"constructor":{"prototype":{}},'),
  (text) => text.replace(":", ':"\\u0000",'),
  (text) => text.replace(/"([^"]*)"/, '"\\ud800$1"'),
  (text) => text.replace(/:\s*"[^"]*"/, ': "a\\u0000b"'),
  (text) => text.replace(/:\s*[^,}]*/, ": 1e400"),
  (text) => text.replace(/:\s*[^,}]*/, ": NaN"),
  (text) => text.replace(/:\s*[^,}]*/, ": 01"),
  (text) => text.replace("}", ",}"),
  (_text, at) => "[".repeat(at % 2 ? 33 : 20_000),
  (_text, at) => `${'{"a":'.repeat(at % 50)}1${"}".repeat(at % 50)}`,
  () => `{"a":${"[".repeat(40)}${"]".repeat(40)}}`,
  (text) => Buffer.from(text, "utf16le"),
  (text, at) =>
    Buffer.concat([
      Buffer.from(text.slice(0, at % (text.length + 1))),
      Buffer.from([[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0x00]][at % 4] ?? []),
      Buffer.from(text.slice(at % (text.length + 1))),
    ]),
  () => "",
  () => " ",
];

const oddTypes = [
  undefined,
  "",
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/json; charset=utf-16",
  'application/json; charset="utf-8"',
  "APPLICATION/JSON",
  "application/json;",
  "application/json, text/plain",
  "application/merge-patch+json",
  "application/jsonx",
  "json",
  "/",
  "application/\u00e9",
];

const json = "application/json";
const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value) ?? "");

export interface Bodies {
  readonly fitting: Arbitrary<Body | undefined>;
  readonly broken: Arbitrary<Body | undefined>;
}

/** `known`: bodies that fit, where the schema alone does not say which. */
export const bodiesFor = (
  schema: Schema | undefined,
  meanings: Meanings,
  known?: Arbitrary<unknown>,
): Bodies => {
  const value = known ?? (schema ? fitting(schema, meanings) : fc.constant({}));
  const fits = value.map((fit): Body => ({ bytes: bytesOf(fit), type: json }));
  const number = fc.nat(10_000);
  const broken = fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .tuple(value, number, junk, fc.nat(3))
        .map((of) => bytesOf(withOneWrong(...of)))
        .map((bytes): Body => ({ bytes, type: json })),
    },
    { weight: 2, arbitrary: junk.map((whole): Body => ({ bytes: bytesOf(whole), type: json })) },
    {
      weight: 6,
      arbitrary: fc
        .tuple(value, fc.constantFrom(...damages), number)
        .map(([fit, damage, at]): Body => {
          const damaged = damage(JSON.stringify(fit) ?? "", at);
          return { bytes: Buffer.from(damaged as string), type: json };
        }),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(value, fc.constantFrom(...oddTypes))
        .map(([fit, type]): Body => ({ bytes: bytesOf(fit), type })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fits, fc.constantFrom("gzip", "br", "deflate", "identity", "gzip, gzip", "x"))
        .map(([fit, encoding]): Body => ({ ...fit, encoding })),
    },
  );
  // Seldom: these are large, and one of them is as good as many.
  const large = fc.constantFrom(200_000, 262_143, 262_144, 262_145, 400_000).map(
    (length): Body => ({
      bytes: Buffer.from(`{"key":"${"a".repeat(length - 10)}"}`),
      type: json,
    }),
  );
  return {
    fitting: schema ? fits : fc.constant(undefined),
    broken: fc.oneof({ weight: 60, arbitrary: broken }, { weight: 1, arbitrary: large }),
  };
};
