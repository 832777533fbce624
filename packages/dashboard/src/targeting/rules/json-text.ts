// Targeting as JSON text: written for people, and read with the place of the first mistake.
import { isObject, type Members } from "@halyard/core/targeting/mistakes";

export const textOf = (members: Members): string =>
  Object.keys(members).length === 0 ? "" : JSON.stringify(members, null, 2);

export type ParsedText =
  | { readonly ok: true; readonly members: Members }
  | { readonly ok: false; readonly problem: string };

const space = /[ \t\n\r]*/y;
const scalar =
  /(?:"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/uy;

/** Where JSON stops being JSON; the length of the text when something is missing at its end. Browsers do not agree on this. */
const positionOfMistake = (text: string): number => {
  let at = 0;
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const take = (character: string): boolean => {
    skip(space);
    if (text[at] !== character) return false;
    at += 1;
    return true;
  };
  const list = (end: string, item: () => boolean): boolean => {
    if (take(end)) return true;
    do {
      if (!item()) return false;
    } while (take(","));
    return take(end);
  };
  const member = (): boolean => {
    skip(space);
    return text[at] === '"' && skip(scalar) && take(":") && value();
  };
  const value = (): boolean => {
    if (take("{")) return list("}", member);
    if (take("[")) return list("]", value);
    return skip(scalar);
  };
  if (value()) skip(space);
  return at;
};

const placeOf = (text: string, position: number): string => {
  const lines = text.slice(0, position).split("\n");
  return `line ${lines.length}, character ${(lines.at(-1) ?? "").length + 1}`;
};

/** An empty text is an object with nothing in it. */
export const parseText = (text: string): ParsedText => {
  if (text.trim() === "") return { ok: true, members: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const position = positionOfMistake(text);
    const where = placeOf(text, position);
    return {
      ok: false,
      problem:
        position >= text.trimEnd().length
          ? `This is not valid JSON: something is missing at the end (${where}).`
          : `This is not valid JSON: see ${where}.`,
    };
  }
  return isObject(value)
    ? { ok: true, members: value }
    : { ok: false, problem: 'This must be a JSON object, such as {"rules": […]}.' };
};
