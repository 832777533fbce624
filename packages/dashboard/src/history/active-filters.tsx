// The active filters, each with a button that removes it.
import { Button } from "@mantine/core";
import { Icon } from "../components/display/icon.tsx";
import { formatFullDate } from "../format.ts";
import { type HistoryFilter, kindLabels } from "./history-filter.ts";

export interface ActiveFilter {
  readonly name: string;
  readonly text: string;
  /** The filter without it. */
  readonly without: Partial<HistoryFilter>;
}

const named = (name: string, text: string, member: keyof HistoryFilter): readonly ActiveFilter[] =>
  text === "" ? [] : [{ name, text, without: { [member]: "" } }];

/** Filters that come from links and have no field. */
export const exactFilters = ({ key, actor }: HistoryFilter): readonly ActiveFilter[] => [
  ...named("Exact key", key, "key"),
  ...named("Exactly by", actor, "actor"),
];

const timeOf = (time: string): string => (time === "" ? "" : formatFullDate(time));

export const activeFilters = (filter: HistoryFilter): readonly ActiveFilter[] => {
  const { kind, range, onlyDeleted } = filter;
  const kinds: readonly ActiveFilter[] =
    kind === undefined
      ? []
      : [{ name: "Kind", text: kindLabels[kind], without: { kind: undefined, key: "" } }];
  const ranges: readonly ActiveFilter[] =
    range === undefined ? [] : [{ name: "Last", text: range, without: { range: undefined } }];
  const deleted: readonly ActiveFilter[] = onlyDeleted
    ? [{ name: "Deleted", text: "only", without: { onlyDeleted: false } }]
    : [];
  return [
    ...named("Search", filter.text, "text"),
    ...named("Who", filter.who, "who"),
    ...kinds,
    ...named("Tag", filter.tag, "tag"),
    ...named("Owner", filter.owner, "owner"),
    ...exactFilters(filter),
    ...ranges,
    ...named("From", timeOf(filter.from), "from"),
    ...named("To", timeOf(filter.to), "to"),
    ...deleted,
  ];
};

interface ActiveFiltersProps {
  readonly filters: readonly ActiveFilter[];
  readonly onRemove: (without: Partial<HistoryFilter>) => void;
}

export const ActiveFilters = ({ filters, onRemove }: ActiveFiltersProps) =>
  filters.length > 0 && (
    <ul className="active-filters" aria-label="Active filters">
      {filters.map(({ name, text, without }) => (
        <li key={name}>
          <Button
            variant="default"
            size="compact-sm"
            rightSection={<Icon name="cross" size={14} />}
            aria-label={`Remove the filter ${name}: ${text}`}
            onClick={() => onRemove(without)}
          >
            <span className="active-filter-text">
              {name}: <strong>{text}</strong>
            </span>
          </Button>
        </li>
      ))}
    </ul>
  );
