// JsonLogic that means the same in the flagd engines of Go, Java, Python and JavaScript.

/** An expression. Engines handle unexpected operand types differently, so check the type first. */
export type Logic =
  | string
  | number
  | boolean
  | null
  | readonly Logic[]
  | { readonly [operator: string]: Logic };

/** Flattens parts with the same operator, which shortens the definition. */
const joined = (operator: "and" | "or", parts: readonly Logic[], decided: boolean): Logic => {
  if (parts.includes(decided)) return decided;
  const open: Logic[] = [];
  for (const part of parts) {
    if (part === !decided) continue;
    const inner = (part as { readonly [name: string]: Logic })[operator];
    if (Array.isArray(inner)) open.push(...inner);
    else open.push(part);
  }
  return open.length < 2 ? (open[0] ?? !decided) : { [operator]: open };
};

/** Parts whose result is already known are left out. */
export const and = (...parts: readonly Logic[]): Logic => joined("and", parts, false);
export const or = (...parts: readonly Logic[]): Logic => joined("or", parts, true);

export const not = (part: Logic): Logic => (typeof part === "boolean" ? !part : { "!": [part] });

/** Compares without conversion. Only the Python engine treats 1 and 0 as true and false here. */
export const same = (one: Logic, other: Logic): Logic => ({ "===": [one, other] });
export const differ = (one: Logic, other: Logic): Logic => ({ "!==": [one, other] });

/** `starts_with` rejects values that are not strings. Checks for a missing value first, because flagd logs each rejection. */
export const isText = (value: Logic): Logic =>
  and(differ(value, null), { starts_with: [value, ""] });

const longestText = 1_024;

/** Part of a string. Past the end, the Go engine returns the whole string and the others an empty one. */
export const isShort = (value: Logic): Logic => ({
  in: [{ substr: [value, longestText, 1] }, ["", value]],
});

/** True for 1 and 0 in engines that treat them as booleans: only numbers are read as versions. */
const readsAsVersion = (value: Logic, version: string): Logic => ({
  sem_ver: [value, "=", version],
});

export const isNoBoolean = (value: Logic): Logic =>
  and(
    or(differ(value, true), readsAsVersion(value, "1.0.0")),
    or(differ(value, false), readsAsVersion(value, "0.0.0")),
  );

/** Only for values that are among booleans. */
export const isNoNumber = (value: Logic): Logic => not({ sem_ver: [value, ">=", "0.0.0"] });

/** A bucket returns its variant unchanged if it is a string, a number or a boolean. Nothing else distinguishes a number from an object. */
const isScalar = (value: Logic): Logic =>
  differ({ fractional: [{ cat: ["-"] }, [value, 1]] }, null);

/** The Python engine compares lists by their elements, and treats a list of one number as that number. */
const isNoList = (value: Logic): Logic => not(same({ merge: [value, []] }, value));

export const isNumber = (value: Logic): Logic =>
  and(not(isText(value)), isScalar(value), isNoList(value), isNoBoolean(value));

/** The element that `ofSome` and `ofNone` test. flagd's own operators don't work there. */
export const element: Logic = { var: "" };

/** For a list or a single value. */
const listOf = (value: Logic): Logic => ({ merge: [value, []] });
const asObject = (test: Logic): Logic => (typeof test === "boolean" ? { "!": [!test] } : test);
export const ofSome = (value: Logic, test: Logic): Logic => ({
  some: [listOf(value), asObject(test)],
});
export const ofAll = (value: Logic, test: Logic): Logic => ({
  none: [listOf(value), asObject(not(test))],
});

/** Some engines can't convert null, a boolean or an object to a string. In the Go engine, an object doesn't even equal itself. */
const isTextOrMore = and(
  same(element, element),
  differ(element, null),
  differ(element, true),
  differ(element, false),
);
const asText: Logic = { cat: [element] };

export const isTextElement = and(isTextOrMore, same(asText, element), isShort(element));

/** The string form of an object starts with a bracket. */
export const isNumberElement = and(isTextOrMore, differ(asText, element), {
  in: [{ substr: [asText, 0, 1] }, "-0123456789".split("")],
});

export const isOneOf = (value: Logic, list: readonly Logic[]): Logic =>
  or(...list.map((each) => same(value, each)));
