// What is kept of a context that is sampled: attributes of bounded number, length and depth, as JSON text.
import type { EvaluationContext } from "../context.ts";
import { asJson } from "../targeting/conditions/attribute.ts";

/** Scalars of one context, also those within lists and objects. */
export const maxAttributes = 50;
/** In characters: of a name, of a text and of the targeting key. */
export const maxTextLength = 256;
/** In characters, of the whole context as JSON. */
export const maxContextLength = 4_096;
const maxDepth = 4;

/** What may still be kept. */
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

/** As it is written in JSON. */
const lengthOf = (text: string): number => JSON.stringify(text).length;

/** A list that lacks an element would mean something else, so it is kept whole or not at all. */
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
    // Whoever sends thousands that are left out must not be worth the time.
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

/** Undefined when it is left out. */
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

/** One attribute, by the same bounds. */
export const boundedValue = (value: unknown): unknown =>
  keep(asJson(value), newRoom(), maxDepth - 1);

/** What exceeds a bound is left out. The targeting key comes first, so that it is kept. */
export const boundedContext = (context: EvaluationContext): string => {
  const { targetingKey, ...attributes } = context;
  const first = typeof targetingKey === "string" ? { targetingKey, ...attributes } : attributes;
  return JSON.stringify(keepMembers(first, newRoom(), maxDepth));
};
