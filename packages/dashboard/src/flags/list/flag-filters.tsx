// The controls above the list: search, filters, sort order.
import { flagTypeNames } from "@halyard/core/flags/registry";
import { Checkbox, Kbd, NativeSelect, TextInput } from "@mantine/core";
import type { KeyboardEvent, RefObject } from "react";
import { Icon } from "../../components/display/icon.tsx";
import { editorOf } from "../types/type-editors.tsx";
import { type FlagFilter, staleMeans } from "./flag-filter.ts";
import type { KnownLabels } from "./flag-labels.ts";

interface FlagFiltersProps {
  readonly filter: FlagFilter;
  /** What can be chosen. */
  readonly labels: KnownLabels;
  readonly onChange: (filter: FlagFilter) => void;
  readonly searchRef: RefObject<HTMLInputElement | null>;
  /** Enter in the search. */
  readonly onOpenFirst: () => void;
  /** The down arrow in the search. */
  readonly onEnterList: () => void;
}

const types = [
  { value: "all", label: "All types" },
  ...flagTypeNames.map((name) => ({ value: name, label: editorOf(name).label })),
];
const states = [
  { value: "all", label: "On and off" },
  { value: "on", label: "On" },
  { value: "off", label: "Off" },
];
const sorts = [
  { value: "key", label: "Sort by key" },
  { value: "reach", label: "Sort by reach" },
  { value: "changed", label: "Sort by last change" },
  { value: "evaluations", label: "Sort by evaluations" },
  { value: "idle", label: "Sort by last evaluation" },
];

const selects = [
  { member: "type", label: "Type", choices: types },
  { member: "state", label: "State", choices: states },
  { member: "sort", label: "Sort by", choices: sorts },
] as const;

interface LabelSelectProps {
  readonly label: string;
  /** What is shown while none is chosen. */
  readonly any: string;
  readonly choices: readonly string[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Nothing where no flag has one, unless the address asks for it. */
const LabelSelect = ({ label, any, choices, value, onChange }: LabelSelectProps) =>
  (choices.length > 0 || value !== "") && (
    <NativeSelect
      aria-label={label}
      className="flag-label-select"
      data={[
        { value: "", label: any },
        ...(value === "" || choices.includes(value) ? choices : [value, ...choices]),
      ]}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );

export const FlagFilters = (props: FlagFiltersProps) => {
  const { filter, labels, onChange, searchRef, onOpenFirst, onEnterList } = props;
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Escape") event.currentTarget.blur();
    if (event.key === "Enter") onOpenFirst();
    if (event.key !== "ArrowDown") return;
    // Else the browser scrolls as well.
    event.preventDefault();
    onEnterList();
  };
  return (
    <search className="flag-filters">
      <TextInput
        ref={searchRef}
        className="flag-search"
        type="search"
        aria-label="Search key or description"
        placeholder="Search key or description"
        leftSection={<Icon name="search" size={16} />}
        rightSection={filter.text === "" ? <Kbd size="xs">/</Kbd> : undefined}
        rightSectionPointerEvents="none"
        value={filter.text}
        onChange={(event) => onChange({ ...filter, text: event.currentTarget.value })}
        onKeyDown={onKeyDown}
      />
      {selects.map(({ member, label, choices }) => (
        <NativeSelect
          key={member}
          aria-label={label}
          data={choices}
          value={filter[member]}
          onChange={(event) => onChange({ ...filter, [member]: event.currentTarget.value })}
        />
      ))}
      <LabelSelect
        label="Tag"
        any="All tags"
        choices={labels.tags}
        value={filter.tag}
        onChange={(tag) => onChange({ ...filter, tag })}
      />
      <LabelSelect
        label="Owner"
        any="All owners"
        choices={labels.owners}
        value={filter.owner}
        onChange={(owner) => onChange({ ...filter, owner })}
      />
      <Checkbox
        label="Only stale"
        title={staleMeans}
        checked={filter.onlyStale}
        onChange={(event) => onChange({ ...filter, onlyStale: event.currentTarget.checked })}
      />
    </search>
  );
};
