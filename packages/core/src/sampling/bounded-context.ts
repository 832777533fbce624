// Limits sampled contexts in number, length and depth of attributes. The result is JSON.
import type { EvaluationContext } from "../context.ts";
import { asJson } from "../targeting/conditions/attribute.ts";

/** Maximum scalars per context, including those inside lists and objects. */
export const maxAttributes = 50;
/** Maximum characters of a name, a text and the targeting key. */
export const maxTextLength = 256;
/** Maximum characters of the whole context as JSON. */
export const maxContextLength = 4_096;
const maxDepth = 4;

/** The remaining capacity. */
interface Room {
  values: number;
  length: number;
}

const takeRoom = (room: Room, values: number, length: number): boolean => {
  if (room.values < values || room.length < length) return false;
  room.values -= values;
  room.length -= length;
  return true;
};

/** The value in JSON. */
const lengthOf = (text: string): number => JSON.stringify(text).length;

/** A list with missing elements would have a different meaning, so it is kept whole or dropped. */
const keepList = (list: readonly unknown[], room: Room, depth: number): unknown => {
  if (list.length > room.values) return undefined;
  const kept: unknown[] = [];
  for (const [index, element] of list.entries()) {
    const value = keep(asJson(element, index) ?? null, room, depth - 1);
    if (value === undefined || !takeRoom(room, 0, 1)) return undefined;
    kept.push(value);
  }
  return kept;
};

const keepMembers = (members: object, room: Room, depth: number): object => {
  // Without a prototype, "__proto__" is a name like any other.
  const kept: Record<string, unknown> = Object.create(null);
  let looked = 0;
  for (const [name, member] of Object.entries(members)) {
    // Stop early, so that thousands of dropped attributes cost no time.
    if (looked === 4 * maxAttributes) break;
    looked += 1;
    if (name.length > maxTextLength) continue;
    const before = { ...room };
    const value = takeRoom(room, 0, lengthOf(name) + 2)
      ? keep(asJson(member, name), room, depth - 1)
      : undefined;
    if (value === undefined) Object.assign(room, before);
    else kept[name] = value;
  }
  return kept;
};

/** Undefined if the attribute is dropped. */
const keep = (value: unknown, room: Room, depth: number): unknown => {
  switch (typeof value) {
    case "string":
      return value.length <= maxTextLength && takeRoom(room, 1, lengthOf(value))
        ? value
        : undefined;
    case "number":
    case "boolean":
      return takeRoom(room, 1, String(value).length) ? value : undefined;
    case "object": {
      if (value === null) return takeRoom(room, 1, 4) ? null : undefined;
      if (depth === 0 || !takeRoom(room, 0, 2)) return undefined;
      return Array.isArray(value) ? keepList(value, room, depth) : keepMembers(value, room, depth);
    }
    default:
      return undefined;
  }
};

const newRoom = (): Room => ({ values: maxAttributes, length: maxContextLength });

/** One attribute, with the same limits. */
export const boundedValue = (value: unknown): unknown =>
  keep(asJson(value), newRoom(), maxDepth - 1);

/** Drops values over a limit. The targeting key comes first, so that it is kept. */
export const boundedContext = (context: EvaluationContext): string => {
  const { targetingKey, ...attributes } = context;
  const first = typeof targetingKey === "string" ? { targetingKey, ...attributes } : attributes;
  return JSON.stringify(keepMembers(first, newRoom(), maxDepth));
};
