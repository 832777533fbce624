// Schemas of the document -> values that fit them, and values that fit nothing.
import fc, { type Arbitrary } from "fast-check";
import type { Schema } from "./document.ts";

/** By the name of a field: values that mean something to this server, which a schema cannot tell. */
export type Meanings = Readonly<Record<string, Arbitrary<unknown>>>;

const typesOf = ({ type = "object" }: Schema): readonly string[] =>
  typeof type === "string" ? [type] : type;

const textOf = ({ pattern, minLength = 0, maxLength = 60 }: Schema): Arbitrary<string> => {
  const fits = (text: string) => text.length >= minLength && text.length <= maxLength;
  if (pattern?.startsWith("^")) {
    return fc.stringMatching(new RegExp(pattern)).filter(fits);
  }
  const length = { minLength, maxLength: Math.min(maxLength, 60) };
  return fc.oneof(
    fc.string(length),
    fc.string({ ...length, unit: "grapheme" }).filter(fits),
    fc.constant("x".repeat(maxLength)),
  );
};

const numberOf = ({ minimum = -1e6, maximum = 1e6, multipleOf }: Schema): Arbitrary<number> => {
  const steps = multipleOf === undefined ? 1 : Math.round(1 / multipleOf);
  return fc
    .oneof(
      fc.maxSafeInteger().map((number) => {
        const range = (maximum - minimum) * steps + 1;
        return minimum * steps + (Math.abs(number) % range);
      }),
      fc.constantFrom(minimum * steps, maximum * steps),
    )
    .map((number) => number / steps);
};

const ofType = (type: string, schema: Schema, meanings: Meanings): Arbitrary<unknown> => {
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
    case "number":
      return numberOf(schema);
    case "string":
      return textOf(schema);
    case "array": {
      const { minItems: minLength = 0, maxItems = 5, items = {} } = schema;
      return fc.array(fitting(items, meanings), { minLength, maxLength: Math.min(maxItems, 5) });
    }
    default: {
      const fields = Object.entries(schema.properties ?? {}).map(
        ([name, field]) => [name, meanings[name] ?? fitting(field, meanings)] as const,
      );
      return fc.record(Object.fromEntries(fields), {
        requiredKeys: [...(schema.required ?? [])],
        noNullPrototype: true,
      });
    }
  }
};

export const fitting = (schema: Schema, meanings: Meanings): Arbitrary<unknown> => {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => fitting(one, meanings)));
  return fc.oneof(...typesOf(schema).map((type) => ofType(type, schema, meanings)));
};

/** Of any type, at the ends of their ranges, and texts that trip readers. */
export const junk: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, true, false, 0, -1, -0, 0.1, 0.0005, 100.001, 101, 1e21, 1e308, -1e308],
    ...[2 ** 31, 2 ** 53, -(2 ** 63), 5e-324, [], {}, [[]], [null], { length: 3 }],
    ...["", " ", "true", "null", "0", "NaN", "\n", "\t", "\u007f", "\u0085", "\u2028", "\ufeff"],
    ...["__proto__", "constructor", "toString", "hasOwnProperty", "$where", "%s%n", "{{7*7}}"],
    ...["' or 1=1 --", '"; drop table flags; --', "<script>alert(1)</script>", "../../etc/passwd"],
    ...["e\u0301\u0301\u0301", "\u202etxt", "\u{1f469}\u200d\u{1f680}", "𝕳", "ſ", "İ", "ß"],
    ...["a".repeat(129), "a".repeat(2_001), "€".repeat(5_000), "2026-13-45T99:99:99Z", "*"],
  ),
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.double(),
);
