// Puts the fields of a flag into the order in which every flag shows them.
import { type Flag, flagTypeNames, ownMembersOf, targetingMembersOf } from "./registry.ts";

const orderOf = (type: string): readonly string[] => [
  ...["key", "type", "enabled"],
  ...ownMembersOf(type).map(([name]) => name),
  "description",
  ...targetingMembersOf(type).map(([name]) => name),
];
const orders: ReadonlyMap<string, readonly string[]> = new Map(
  flagTypeNames.map((type) => [type, orderOf(type)]),
);

/** Leaves out undefined values. Unknown fields are kept, last. */
export const arrange = (members: Readonly<Record<string, unknown>>): Flag => {
  const { type } = members;
  const arranged: Record<string, unknown> = {};
  for (const name of orders.get(String(type)) ?? orderOf(String(type))) {
    if (members[name] !== undefined) arranged[name] = members[name];
  }
  const others = Object.keys(members).filter(
    (name) => members[name] !== undefined && !Object.hasOwn(arranged, name),
  );
  if (others.length === 0) return arranged as unknown as Flag;
  // Built from entries, so that a field named __proto__ stays a field.
  const rest = Object.fromEntries(others.map((name) => [name, members[name]]));
  return { ...arranged, ...rest } as unknown as Flag;
};
