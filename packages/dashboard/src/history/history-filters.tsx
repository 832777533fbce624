// The filters above the history: of what, by whom, when.
import type { Actor } from "@halyard/sdk/management";
import { Button, Checkbox, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { valueOrThrow } from "../api.ts";
import { labelsOf } from "../flags/list/flag-labels.ts";
import { useLiveState } from "../live-provider.tsx";
import { useApi, useSession } from "../session.tsx";
import { ActiveFilters, exactFilters } from "./active-filters.tsx";
import {
  type HistoryFilter,
  hasLabels,
  historyFilterFrom,
  isFiltered,
  kindLabels,
  kinds,
  localOf,
  longestText,
  ranges,
  timeOfLocal,
} from "./history-filter.ts";
import { TypedFilter } from "./typed-filter.tsx";

/** Names that people know: of the keys there are, and of those who made the changes shown. */
const useKnownNames = (seen: readonly Actor[]): readonly string[] => {
  const { management, environment, may } = useApi();
  const { session } = useSession();
  const keys = useQuery({
    queryKey: [environment.name, "keys"],
    queryFn: async () => valueOrThrow(await management.keys.list()),
    enabled: may("keys.read"),
  });
  const names = [
    ...seen.map(({ name, user }) => user?.name ?? name),
    session?.user?.name ?? environment.keyName,
    ...(keys.data ?? []).map(({ name }) => name),
  ];
  return [...new Set(names)].sort();
};

const rangeLabels: readonly { readonly value: string; readonly label: string }[] = [
  { value: "any", label: "Any time" },
  ...Object.keys(ranges).map((name) => ({ value: name, label: `Last ${name}` })),
  { value: "custom", label: "From … to …" },
];

interface HistoryFiltersProps {
  readonly filter: HistoryFilter;
  readonly onChange: (filter: HistoryFilter) => void;
  /** Who made the changes that are shown. */
  readonly actors: readonly Actor[];
}

export const HistoryFilters = ({ filter, onChange, actors }: HistoryFiltersProps) => {
  const { flags } = useLiveState();
  const labels = labelsOf(flags);
  const names = useKnownNames(actors);
  const hasTimes = filter.from !== "" || filter.to !== "";
  const [isCustom, setCustom] = useState(hasTimes);
  const set = (change: Partial<HistoryFilter>) => onChange({ ...filter, ...change });
  const chooseRange = (value: string | null) => {
    setCustom(value === "custom");
    const range = Object.keys(ranges).find((name) => name === value) as HistoryFilter["range"];
    set({ range, ...(value !== "custom" && { from: "", to: "" }) });
  };
  return (
    <search className="history-filters" aria-label="Filter the history">
      <TypedFilter
        label="Search"
        placeholder="Key, name or reason"
        value={filter.text}
        maxLength={longestText.q}
        known={[]}
        onApply={(text) => set({ text })}
      />
      <TypedFilter
        label="Who"
        placeholder="Person or API key"
        value={filter.who}
        maxLength={longestText.who}
        known={names}
        onApply={(who) => set({ who })}
      />
      <Select
        label="Kind"
        data={[
          { value: "all", label: "All kinds" },
          ...kinds.map((kind) => ({ value: kind, label: kindLabels[kind] })),
        ]}
        value={filter.kind ?? "all"}
        allowDeselect={false}
        onChange={(value) => {
          const kind = kinds.find((each) => each === value);
          set({ kind, key: "", ...(!hasLabels(kind) && { tag: "", owner: "" }) });
        }}
      />
      {hasLabels(filter.kind) && (
        <>
          <TypedFilter
            label="Tag"
            placeholder="Tag of a flag"
            value={filter.tag}
            maxLength={longestText.tag}
            known={labels.tags}
            onApply={(tag) => set({ tag })}
          />
          <TypedFilter
            label="Owner"
            placeholder="Owner of a flag"
            value={filter.owner}
            maxLength={longestText.owner}
            known={labels.owners}
            onApply={(owner) => set({ owner })}
          />
        </>
      )}
      <Select
        label="When"
        data={[...rangeLabels]}
        value={filter.range ?? (isCustom || hasTimes ? "custom" : "any")}
        allowDeselect={false}
        onChange={chooseRange}
      />
      {(isCustom || hasTimes) && filter.range === undefined && (
        <>
          <TextInput
            className="history-time"
            type="datetime-local"
            label="From"
            value={localOf(filter.from)}
            onChange={(event) => set({ from: timeOfLocal(event.currentTarget.value) })}
          />
          <TextInput
            className="history-time"
            type="datetime-local"
            label="To"
            value={localOf(filter.to)}
            onChange={(event) => set({ to: timeOfLocal(event.currentTarget.value) })}
          />
        </>
      )}
      <Checkbox
        className="history-deleted"
        label="Deleted only"
        checked={filter.onlyDeleted}
        onChange={(event) => set({ onlyDeleted: event.currentTarget.checked })}
      />
      {isFiltered(filter) && (
        <Button
          className="history-clear"
          variant="subtle"
          onClick={() => {
            setCustom(false);
            onChange(historyFilterFrom(new URLSearchParams()));
          }}
        >
          Clear filters
        </Button>
      )}
      <ActiveFilters filters={exactFilters(filter)} onRemove={set} />
    </search>
  );
};
