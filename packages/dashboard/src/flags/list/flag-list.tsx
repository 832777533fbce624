// The list of flags, virtualized: only the rows in view are rendered.
import { useMediaQuery } from "@mantine/hooks";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import {
  memo,
  type Ref,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { usePageKeys } from "../../components/layout/page-keys.ts";
import type { Selection } from "../../components/selection/use-selection.ts";
import type { LiveFlag } from "../../live.ts";
import { useApi } from "../../session.tsx";
import { useFlagEdits } from "../edit/flag-edits.tsx";
import { isStale, type UsageByKey } from "./flag-filter.ts";
import { FlagRow } from "./flag-row.tsx";

interface FlagListProps {
  readonly flags: readonly LiveFlag[];
  readonly usage: UsageByKey | undefined;
  /** Absent when rows cannot be selected. */
  readonly selection: Selection | undefined;
  readonly ref: Ref<FlagListHandle>;
}

export interface FlagListHandle {
  readonly focusFirst: () => void;
}

/** As the styles arrange them. */
const wideRow = 64;
const middleRow = 84;
const narrowRow = 124;
const wide = "(min-width: 75em)";
const narrow = "(max-width: 59.99em)";

/** With Shift. */
const rangeKey = "X";

/** The row that was selected when the user left the list, for when they return. */
let lastSelected: string | undefined;

const usageOf = (usage: UsageByKey | undefined, key: string) => {
  if (usage === undefined) return undefined;
  const found = usage.get(key);
  return {
    count: (found?.on ?? 0) + (found?.off ?? 0),
    last: found?.lastEvaluatedAt ?? null,
    together: found?.lastAskedTogetherAt ?? null,
  };
};

/** Not rendered anew for each letter of a search, only for what it finds. */
export const FlagList = memo(function FlagList({ flags, usage, selection, ref }: FlagListProps) {
  const { mayChange } = useApi();
  const edits = useFlagEdits();
  const list = useRef<HTMLUListElement>(null);
  const [offset, setOffset] = useState(0);
  const [selected, setSelected] = useState(lastSelected);
  const toFocus = useRef<string | undefined>(undefined);
  useLayoutEffect(() => setOffset(list.current?.offsetTop ?? 0), []);
  const isWide = useMediaQuery(wide, matchMedia(wide).matches);
  const isNarrow = useMediaQuery(narrow, matchMedia(narrow).matches);
  const rowHeight = isWide ? wideRow : isNarrow ? narrowRow : middleRow;
  const virtualizer = useWindowVirtualizer({
    count: flags.length,
    estimateSize: () => rowHeight,
    // Each row costs a letter of the search its time.
    overscan: 4,
    scrollMargin: offset,
    getItemKey: (index) => flags[index]?.flag.key ?? index,
  });

  const select = (key: string | undefined) => {
    lastSelected = key;
    setSelected(key);
  };
  const selectedIndex = flags.findIndex(({ flag }) => flag.key === selected);
  const moveTo = (index: number) => {
    const key = flags[index]?.flag.key;
    if (key === undefined) return;
    toFocus.current = key;
    select(key);
    virtualizer.scrollToIndex(index, { align: "auto" });
    links.current.get(key)?.focus({ preventScroll: true });
  };
  const links = useRef(new Map<string, HTMLAnchorElement>());
  const withSelected = (run: (entry: LiveFlag) => void) => {
    const entry = flags[selectedIndex];
    if (entry) run(entry);
  };
  const toggle = (entry: LiveFlag) => void edits.change(entry, { enabled: !entry.flag.enabled });

  useImperativeHandle(ref, () => ({ focusFirst: () => moveTo(0) }));
  const next = () => moveTo(Math.min(selectedIndex + 1, flags.length - 1));
  const previous = () => moveTo(Math.max(selectedIndex - 1, 0));
  usePageKeys({
    j: next,
    ArrowDown: next,
    k: previous,
    ArrowUp: previous,
    e: () => mayChange && withSelected(toggle),
    x: () => withSelected(({ flag }) => selection?.toggle(flag.key)),
    [rangeKey]: () => withSelected(({ flag }) => selection?.toggle(flag.key, true)),
  });

  const returned = useRef(lastSelected !== undefined);
  useEffect(() => {
    if (!returned.current || offset === 0) return;
    returned.current = false;
    if (selectedIndex > 0) virtualizer.scrollToIndex(selectedIndex, { align: "center" });
  }, [offset, selectedIndex, virtualizer]);

  return (
    <>
      <div className="flag-heads" data-selectable={selection && true} aria-hidden="true">
        <span className="flag-head-on">On</span>
        <span>Flag</span>
        <span>Type</span>
        <span>Reach</span>
        <span>Last changed</span>
        <span>Evaluations in 30 days</span>
      </div>
      <ul
        className="flag-list"
        data-selectable={selection && true}
        ref={list}
        aria-label="Flags"
        style={{ height: virtualizer.getTotalSize() }}
      >
        {virtualizer.getVirtualItems().map(({ index, start, key: rowKey }) => {
          const entry = flags[index];
          if (entry === undefined) return null;
          const { key } = entry.flag;
          return (
            <FlagRow
              key={rowKey}
              entry={entry}
              usage={usageOf(usage, key)}
              change={usage?.get(key)?.lastChange ?? null}
              stale={isStale(usage, key)}
              position={index + 1}
              of={flags.length}
              mayChange={mayChange}
              selected={selection?.keys.has(key) ?? false}
              {...(selection && {
                onSelect: (isRange: boolean) => selection.toggle(key, isRange),
              })}
              style={{ transform: `translateY(${start - offset}px)`, height: rowHeight }}
              onToggle={() => toggle(entry)}
              onFocus={() => select(key)}
              linkRef={(element) => {
                if (element === null) links.current.delete(key);
                else links.current.set(key, element);
                if (element !== null && toFocus.current === key) {
                  toFocus.current = undefined;
                  element.focus({ preventScroll: true });
                }
              }}
            />
          );
        })}
      </ul>
    </>
  );
});
