// A text filter: applied while you type, and immediately on Enter, on choosing a suggestion, or on leaving the field.
import { Autocomplete } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";

interface TypedFilterProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly maxLength: number;
  readonly known: readonly string[];
  readonly onApply: (text: string) => void;
}

const pause = 250;

export const TypedFilter = ({ value, known, onApply, ...input }: TypedFilterProps) => {
  const [typed, setTyped] = useState(value);
  const applied = useRef(value);
  // An echo of this field's own value must not undo newer typing. Other changes apply, such as "Clear filters".
  useEffect(() => {
    if (applied.current === value) return;
    applied.current = value;
    setTyped(value);
  }, [value]);
  const apply = (text: string) => {
    const next = text.trim();
    if (next === applied.current) return;
    applied.current = next;
    onApply(next);
  };
  const applyLater = useDebouncedCallback(apply, pause);
  const applyNow = (text: string) => {
    applyLater.cancel();
    apply(text);
  };
  return (
    <Autocomplete
      {...input}
      data={[...known]}
      limit={8}
      value={typed}
      onChange={(text) => {
        setTyped(text);
        if (text === "") applyNow(text);
        else applyLater(text);
      }}
      onOptionSubmit={applyNow}
      onBlur={() => applyNow(typed)}
      onKeyDown={(event) => {
        if (event.key === "Enter") applyNow(typed);
      }}
      autoComplete="off"
      spellCheck={false}
      clearable
    />
  );
};
