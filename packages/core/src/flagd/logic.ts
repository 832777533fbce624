// JsonLogic as every flagd engine reads it: what is built here means the same in the engines of Go, Java, Python and JavaScript.

/** An expression. Engines differ in what they make of other types than an operator expects: each is asked for first. */
export type Logic =
  | string
  | number
  | boolean
  | null
  | readonly Logic[]
  | { readonly [operator: string]: Logic };

/** The parts of those that are of the same operator stand beside the others: a shorter definition. */
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

/** What is known now is left out. */
export const and = (...parts: readonly Logic[]): Logic => joined("and", parts, false);
export const or = (...parts: readonly Logic[]): Logic => joined("or", parts, true);

export const not = (part: Logic): Logic => (typeof part === "boolean" ? !part : { "!": [part] });

/** Without conversion. Only Python takes 1 and 0 for true and false here. */
export const same = (one: Logic, other: Logic): Logic => ({ "===": [one, other] });
export const differ = (one: Logic, other: Logic): Logic => ({ "!==": [one, other] });

/** `starts_with` refuses what is no text; a missing value is not shown to it, since flagd logs each refusal. */
export const isText = (value: Logic): Logic =>
  and(differ(value, null), { starts_with: [value, ""] });

const longestText = 1_024;

/** Of a text. Behind its end, Go gives the whole text and the others give an empty one. */
export const isShort = (value: Logic): Logic => ({
  in: [{ substr: [value, longestText, 1] }, ["", value]],
});

/** True for 1 and 0 where an engine takes them for booleans: only numbers are read as versions. */
const readsAsVersion = (value: Logic, version: string): Logic => ({
  sem_ver: [value, "=", version],
});

export const isNoBoolean = (value: Logic): Logic =>
  and(
    or(differ(value, true), readsAsVersion(value, "1.0.0")),
    or(differ(value, false), readsAsVersion(value, "0.0.0")),
  );

/** Of something that is among booleans. */
export const isNoNumber = (value: Logic): Logic => not({ sem_ver: [value, ">=", "0.0.0"] });

/** A bucket gives its variant back when that is a text, a number or a boolean: nothing else tells a number from an object. */
const isScalar = (value: Logic): Logic =>
  differ({ fractional: [{ cat: ["-"] }, [value, 1]] }, null);

/** Python compares lists by what is in them, and takes a list of one number for that number. */
const isNoList = (value: Logic): Logic => not(same({ merge: [value, []] }, value));

export const isNumber = (value: Logic): Logic =>
  and(not(isText(value)), isScalar(value), isNoList(value), isNoBoolean(value));

/** The element that `ofSome` and `ofNone` look at. The operators of flagd do not work there. */
export const element: Logic = { var: "" };

/** Of a list, or of a single value. */
const listOf = (value: Logic): Logic => ({ merge: [value, []] });
const asObject = (test: Logic): Logic => (typeof test === "boolean" ? { "!": [!test] } : test);
export const ofSome = (value: Logic, test: Logic): Logic => ({
  some: [listOf(value), asObject(test)],
});
export const ofAll = (value: Logic, test: Logic): Logic => ({
  none: [listOf(value), asObject(not(test))],
});

/** Not every engine can make a text of null, of a boolean or of an object. In Go, an object is not even the same as itself. */
const isTextOrMore = and(
  same(element, element),
  differ(element, null),
  differ(element, true),
  differ(element, false),
);
const asText: Logic = { cat: [element] };

export const isTextElement = and(isTextOrMore, same(asText, element), isShort(element));

/** As a text, an object begins with a bracket. */
export const isNumberElement = and(isTextOrMore, differ(asText, element), {
  in: [{ substr: [asText, 0, 1] }, "-0123456789".split("")],
});

export const isOneOf = (value: Logic, list: readonly Logic[]): Logic =>
  or(...list.map((each) => same(value, each)));
