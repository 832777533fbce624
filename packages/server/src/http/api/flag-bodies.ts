// Flags as the bytes of an answer, written out once and kept for as long as the flags themselves.
import type { VersionedFlag } from "../../domain/change.ts";
import type { FlagList } from "../../ports.ts";

const keep = <T extends object>(write: (value: T) => unknown) => {
  const bodies = new WeakMap<T, Buffer>();
  return (value: T): Buffer => {
    const kept = bodies.get(value);
    if (kept) return kept;
    const body = Buffer.from(JSON.stringify(write(value)));
    bodies.set(value, body);
    return body;
  };
};

export const listBody = keep(({ flags }: FlagList) => flags.map(({ flag }) => flag));
export const flagBody = keep(({ flag }: VersionedFlag) => flag);
