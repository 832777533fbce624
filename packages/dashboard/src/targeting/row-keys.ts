// Keys for rows that have no name of their own: a row keeps its key when others come, go and move.
import { useRef, useState } from "react";

export interface RowKeys {
  readonly keys: readonly string[];
  /** The new keys. */
  readonly insert: (index: number, count?: number) => readonly string[];
  readonly remove: (index: number) => void;
  readonly move: (from: number, to: number) => void;
}

/** With the element at `from` at `to`. */
export const moved = <T>(list: readonly T[], from: number, to: number): readonly T[] => {
  const rest = list.filter((_, index) => index !== from);
  return [...rest.slice(0, to), ...list.slice(from, from + 1), ...rest.slice(to)];
};

export const useRowKeys = (count: number): RowKeys => {
  const next = useRef(0);
  const fresh = (many: number): readonly string[] =>
    Array.from({ length: many }, () => {
      next.current += 1;
      return `row-${next.current}`;
    });
  const [keys, setKeys] = useState(() => fresh(count));
  // Somebody else has changed the list, by JSON for example: every row is made anew.
  const current = keys.length === count ? keys : fresh(count);
  if (current !== keys) setKeys(current);
  return {
    keys: current,
    insert(index, many = 1) {
      const added = fresh(many);
      setKeys([...current.slice(0, index), ...added, ...current.slice(index)]);
      return added;
    },
    remove: (index) => setKeys(current.filter((_, at) => at !== index)),
    move: (from, to) => setKeys(moved(current, from, to)),
  };
};
