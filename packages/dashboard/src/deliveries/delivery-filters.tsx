// The filters above the delivery log.
import { Autocomplete, SegmentedControl } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useState } from "react";
import { useLiveState } from "../live-provider.tsx";
import { type DeliveryFilter, states } from "./delivery-filter.ts";

interface DeliveryFiltersProps {
  readonly filter: DeliveryFilter;
  readonly onChange: (filter: DeliveryFilter) => void;
}

const typingPause = 250;

export const DeliveryFilters = ({ filter, onChange }: DeliveryFiltersProps) => {
  const { flags } = useLiveState();
  const [flag, setFlag] = useState(filter.flag);
  const applyFlag = useDebouncedCallback(
    (next: string) => onChange({ ...filter, flag: next.trim(), opened: undefined }),
    typingPause,
  );
  return (
    <div className="delivery-filters">
      <SegmentedControl
        aria-label="State"
        data={[
          { value: "", label: "all" },
          ...states.map((state) => ({ value: state, label: state })),
        ]}
        value={filter.state ?? ""}
        onChange={(value) =>
          onChange({
            ...filter,
            state: states.find((state) => state === value),
            opened: undefined,
          })
        }
      />
      <Autocomplete
        className="delivery-flag"
        aria-label="Flag"
        placeholder="Flag key"
        data={flags.map(({ flag: { key } }) => key)}
        limit={8}
        value={flag}
        onChange={(next) => {
          setFlag(next);
          applyFlag(next);
        }}
        autoComplete="off"
        spellCheck={false}
        clearable
      />
    </div>
  );
};
