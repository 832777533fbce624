// A flag's members in the order in which every flag shows them.
import { type Flag, ownMembersOf, targetingMembersOf } from "./registry.ts";

/** What is undefined is left out. Members that this version does not know are kept, last. */
export const arrange = (members: Readonly<Record<string, unknown>>): Flag => {
  const { key, type, enabled, description, ...others } = members;
  const rest: Record<string, unknown> = { ...others };
  const arranged: Record<string, unknown> = { key, type, enabled };
  const take = (name: string) => {
    if (rest[name] !== undefined) arranged[name] = rest[name];
    delete rest[name];
  };
  for (const [name] of ownMembersOf(String(type))) take(name);
  arranged.description = description;
  for (const [name] of targetingMembersOf(String(type))) take(name);
  return { ...arranged, ...rest } as unknown as Flag;
};
