// A flag's members in the order in which every flag shows them.
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

/** What is undefined is left out. Members that this version does not know are kept, last. */
export const arrange = (members: Readonly<Record<string, unknown>>): Flag => {
  const { type } = members;
  const arranged: Record<string, unknown> = {};
  const take = (name: string): void => {
    const value = members[name];
    if (value !== undefined) arranged[name] = value;
  };
  for (const name of orders.get(String(type)) ?? orderOf(String(type))) take(name);
  for (const name of Object.keys(members)) if (!Object.hasOwn(arranged, name)) take(name);
  return arranged as unknown as Flag;
};
