// The list under what is typed in the palette; loaded when the palette is opened first.
import { type Ref, useEffect, useImperativeHandle, useRef, useState } from "react";
import { Icon } from "../components/display/icon.tsx";
import { formatNumber } from "../format.ts";
import { useApi } from "../session.tsx";
import { type Entry, type Place, useEntries } from "./entries.ts";
import { ranked } from "./rank.ts";
import { remember } from "./recent.ts";

/** More than anybody reads: they type another letter. */
const mostShown = 50;

export interface PaletteHandle {
  readonly move: (by: 1 | -1) => void;
  readonly choose: () => void;
}

interface PaletteResultsProps {
  readonly id: string;
  readonly typed: string;
  readonly places: readonly Place[];
  /** The id of the option that Enter chooses. */
  readonly onActive: (optionId: string | undefined) => void;
  readonly onChoose: (entry: Entry) => void;
  readonly ref: Ref<PaletteHandle>;
}

const countOf = (shown: number, found: number): string => {
  if (found === 0) return "No results";
  if (found > shown) return `The first ${shown} of ${formatNumber(found)} results`;
  return found === 1 ? "1 result" : `${formatNumber(found)} results`;
};

export const PaletteResults = (props: PaletteResultsProps) => {
  const { id, typed, places, onActive, onChoose, ref } = props;
  const { environment } = useApi();
  const entries = useEntries(places);
  const found = typed.trim() === "" ? entries : ranked(typed, entries);
  const shown = found.slice(0, mostShown);
  /** Another text begins at its first result. */
  const [chosen, setChosen] = useState({ typed, index: 0 });
  const index = chosen.typed === typed ? Math.min(chosen.index, shown.length - 1) : 0;
  const choose = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    // Not actions: Enter alone must not repeat one.
    if (entry.kind !== "action") remember(environment.name, entry.id);
    onChoose(entry);
  };
  useImperativeHandle(ref, () => ({
    move: (by) => setChosen({ typed, index: (index + by + shown.length) % shown.length }),
    choose: () => choose(shown[index]),
  }));

  const optionId = (at: number): string => `${id}-${at}`;
  const active = shown.length === 0 ? undefined : optionId(index);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    onActive(active);
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [active, onActive]);

  return (
    <>
      <div className="palette-list" id={id} role="listbox" aria-label="Results" ref={list}>
        {shown.map((entry, at) => (
          // The text field has the focus and the keys.
          // biome-ignore lint/a11y/useKeyWithClickEvents: as above
          <div
            key={entry.id}
            id={optionId(at)}
            className="palette-option"
            role="option"
            tabIndex={-1}
            aria-selected={at === index}
            onMouseMove={() => at !== index && setChosen({ typed, index: at })}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(entry)}
          >
            <Icon name={entry.icon} size={16} />
            <span className={entry.kind === "flag" ? "palette-label mono" : "palette-label"}>
              {entry.label}
            </span>
            <span className="palette-kind dimmed">{entry.kind}</span>
          </div>
        ))}
      </div>
      <p className="palette-count dimmed" role="status">
        {countOf(shown.length, found.length)}
      </p>
    </>
  );
};
