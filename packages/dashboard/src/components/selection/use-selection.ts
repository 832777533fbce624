// Which rows of a list are selected: one by one, a range, or all.
import { useMemo, useRef, useState } from "react";

export interface Selection {
  readonly keys: ReadonlySet<string>;
  /** `isRange`: all rows from the one toggled last to this one become as this one. */
  readonly toggle: (key: string, isRange?: boolean) => void;
  readonly add: (keys: readonly string[]) => void;
  readonly clear: () => void;
}

const nothing: ReadonlySet<string> = new Set();

/** `shown` are the rows in their order. */
export const useSelection = (shown: readonly string[]): Selection => {
  const [keys, setKeys] = useState(nothing);
  const last = useRef<string | undefined>(undefined);
  // The same while nothing changes, so that rows need not be rendered.
  return useMemo(
    () => ({
      keys,
      toggle(key, isRange = false) {
        const from = isRange && last.current !== undefined ? shown.indexOf(last.current) : -1;
        const to = shown.indexOf(key);
        const range =
          from === -1 || to === -1
            ? [key]
            : shown.slice(Math.min(from, to), Math.max(from, to) + 1);
        last.current = key;
        const isOn = !keys.has(key);
        const next = new Set(keys);
        for (const each of range) {
          if (isOn) next.add(each);
          else next.delete(each);
        }
        setKeys(next);
      },
      add: (more) => setKeys(new Set([...keys, ...more])),
      clear: () => setKeys(nothing),
    }),
    [shown, keys],
  );
};
