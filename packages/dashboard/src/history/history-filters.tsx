// The filters above the history: of what, by whom, when.
import type { Actor } from "@halyard/sdk";
import { Autocomplete, Button, Checkbox, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { valueOrThrow } from "../api.ts";
import { actorName } from "../components/display/actor-name.tsx";
import { useLiveState } from "../live-provider.tsx";
import { useApi, useSession } from "../session.tsx";
import {
  type HistoryFilter,
  type HistoryKind,
  historyFilterFrom,
  isFiltered,
  kinds,
  localOf,
  ranges,
  timeOfLocal,
} from "./history-filter.ts";

interface ChosenTextProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly known: readonly string[];
  readonly onApply: (text: string) => void;
}

/** Half a name finds nothing: it is applied with Enter, by choosing one, or by leaving the field. */
const ChosenText = ({ label, placeholder, value, known, onApply }: ChosenTextProps) => {
  const [{ typed, of }, setTyped] = useState({ typed: value, of: value });
  if (of !== value) setTyped({ typed: value, of: value });
  const apply = (text: string) => {
    if (text.trim() !== value) onApply(text.trim());
  };
  return (
    <Autocomplete
      label={label}
      placeholder={placeholder}
      data={[...known]}
      limit={8}
      value={typed}
      onChange={(text) => {
        setTyped({ typed: text, of: value });
        if (text === "") apply(text);
      }}
      onOptionSubmit={apply}
      onBlur={() => apply(typed)}
      onKeyDown={(event) => {
        if (event.key === "Enter") apply(typed);
      }}
      autoComplete="off"
      spellCheck={false}
      clearable
    />
  );
};

interface KnownActors {
  readonly names: readonly string[];
  /** A person is found by their id: what they did with their keys too. */
  readonly valueOf: (name: string) => string;
  readonly nameOf: (value: string) => string;
}

/** Names that people know: of the keys there are, and of those who made the changes shown. */
const useActors = (seen: readonly Actor[]): KnownActors => {
  const { management, environment, may } = useApi();
  const { session } = useSession();
  const keys = useQuery({
    queryKey: [environment.name, "keys"],
    queryFn: async () => valueOrThrow(await management.keys.list()),
    enabled: may("keys.read"),
  });
  const people = new Map(
    [...seen.map(({ user }) => user), session?.user]
      .filter((user) => user != null)
      .map(({ id, name }) => [id, name]),
  );
  const names = new Set([
    ...people.values(),
    ...seen.map(actorName),
    environment.keyName,
    ...(keys.data ?? []).map(({ name }) => name),
  ]);
  return {
    names: [...names].sort(),
    valueOf: (name) => [...people].find(([, each]) => each === name)?.[0] ?? name,
    nameOf: (value) => people.get(value) ?? value,
  };
};

const rangeLabels: readonly { readonly value: string; readonly label: string }[] = [
  { value: "any", label: "Any time" },
  ...Object.keys(ranges).map((name) => ({ value: name, label: `Last ${name}` })),
  { value: "custom", label: "From … to …" },
];

const kindLabels: Readonly<Record<HistoryKind, string>> = {
  flag: "Flags",
  segment: "Segments",
  webhook: "Webhooks",
  key: "Keys",
  user: "People",
  environment: "Environments",
  "change-request": "Change requests",
};

interface HistoryFiltersProps {
  readonly filter: HistoryFilter;
  readonly onChange: (filter: HistoryFilter) => void;
  /** Who made the changes that are shown. */
  readonly actors: readonly Actor[];
}

export const HistoryFilters = ({ filter, onChange, actors }: HistoryFiltersProps) => {
  const { flags, segments } = useLiveState();
  const known = useActors(actors);
  const hasTimes = filter.from !== "" || filter.to !== "";
  const [isCustom, setCustom] = useState(hasTimes);
  const set = (change: Partial<HistoryFilter>) => onChange({ ...filter, ...change });
  const keysOf = {
    flag: () => flags.map(({ flag }) => flag.key),
    segment: () => segments.map(({ segment }) => segment.key),
    webhook: () => [],
    key: () => [],
    user: () => [],
    environment: () => [],
    "change-request": () => [],
  };
  const chooseRange = (value: string | null) => {
    setCustom(value === "custom");
    const range = Object.keys(ranges).find((name) => name === value) as HistoryFilter["range"];
    set({ range, ...(value !== "custom" && { from: "", to: "" }) });
  };
  return (
    <search className="history-filters" aria-label="Filter the history">
      <Select
        label="Kind"
        data={[
          { value: "all", label: "All kinds" },
          ...kinds.map((kind) => ({ value: kind, label: kindLabels[kind] })),
        ]}
        value={filter.kind ?? "all"}
        allowDeselect={false}
        onChange={(value) => set({ kind: kinds.find((kind) => kind === value), key: "" })}
      />
      <ChosenText
        label="Key or id"
        placeholder={
          filter.kind === undefined
            ? "Full key of a flag"
            : `Full key of the ${filter.kind.replace("-", " ")}`
        }
        value={filter.key}
        known={keysOf[filter.kind ?? "flag"]()}
        onApply={(key) => set({ key, kind: filter.kind ?? (key === "" ? undefined : "flag") })}
      />
      <ChosenText
        label="Who"
        placeholder="Person or API key"
        value={known.nameOf(filter.actor)}
        known={known.names}
        onApply={(name) => set({ actor: known.valueOf(name) })}
      />
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
            type="datetime-local"
            label="From"
            value={localOf(filter.from)}
            onChange={(event) => set({ from: timeOfLocal(event.currentTarget.value) })}
          />
          <TextInput
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
    </search>
  );
};
