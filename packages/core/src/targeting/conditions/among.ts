// The operators `in` and `notIn`: whether a value, or any element of a list, is one of several.
import { parsed, type Turn } from "../turn.ts";
import { asJson } from "./attribute.ts";
import type { Wanted } from "./known-list.ts";
import { foldCase, isShortText, longestList, longestListText } from "./texts.ts";
import { isUnknown, type Truth } from "./truth.ts";

/** Up to this number of elements, scanning a list is as fast as building sets. */
const fewElements = 3;

export interface Among extends Wanted {
  readonly found: Truth;
  readonly other: Truth;
}

const decideOne = (among: Among, value: unknown, turn: Turn | undefined): Truth => {
  if (typeof value !== among.type) return isUnknown;
  if (among.type === "string" && !isShortText(value)) return isUnknown;
  const one = among.folds ? parsed(foldCase, value as string, turn) : value;
  const isFound = among.set === undefined ? among.list.includes(one) : among.set.has(one);
  return isFound ? among.found : among.other;
};

/** A list matches if any element does. */
export const decideAmong = (among: Among, value: unknown, turn: Turn | undefined): Truth => {
  if (!Array.isArray(value)) return decideOne(among, value, turn);
  if (value.length > longestList) return isUnknown;
  if (value.length > fewElements && turn !== undefined) {
    const known = turn.list(value);
    if (known.isTooLong) return isUnknown;
    if (known.hasAny(among)) return among.found;
    return known.hasOnly(among.type) ? among.other : isUnknown;
  }
  let truth = among.other;
  let characters = 0;
  let isFound = false;
  for (let index = 0; index < value.length; index += 1) {
    const element = asJson(value[index], index);
    if (typeof element === "string") characters += element.length;
    const one = isFound ? among.found : decideOne(among, element, turn);
    if (one === among.found) isFound = true;
    else if (one === isUnknown) truth = isUnknown;
  }
  if (characters > longestListText) return isUnknown;
  return isFound ? among.found : truth;
};
