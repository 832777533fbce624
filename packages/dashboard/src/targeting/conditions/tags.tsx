// A list of values as tags. What is being typed counts already: nothing on the page moves when the field is left.
import type { Scalar } from "@halyard/core/targeting/conditions/operators";
import { TagsInput } from "@mantine/core";
import { useRef, useState } from "react";
import { labelOf, suggesting } from "./row-props.tsx";

interface TagsProps {
  readonly name: string;
  readonly values: readonly Scalar[];
  readonly onTexts: (texts: readonly string[]) => void;
  readonly suggestions: readonly Scalar[];
  readonly placeholder: string;
  readonly error: string | undefined;
}

/** The library's own comparison ignores case. */
const isDuplicate = (value: string, current: string[]): boolean => current.includes(value);

const partsOf = (text: string): readonly string[] =>
  text
    .split(/[,\n\t]/)
    .map((part) => part.trim())
    .filter((part) => part !== "");

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

export const Tags = (props: TagsProps) => {
  const { name, values, onTexts, suggestions, placeholder, error } = props;
  /** While something is typed: it is the last of the values, and not a tag yet. */
  const [pending, setPending] = useState<{ typed: string; tags: readonly string[] } | undefined>();
  /** The library empties the field before or after it takes its text. */
  const isTaken = useRef(false);
  const tags = pending?.tags ?? values.map(String);
  const type = (text: string) => {
    if (text === "") {
      setPending(undefined);
      if (pending !== undefined && !isTaken.current) onTexts(tags);
      return;
    }
    isTaken.current = false;
    // What stands before a comma is complete. Keyboards of phones send no key for it.
    const end = text.lastIndexOf(",") + 1;
    const complete = unique([...tags, ...partsOf(text.slice(0, end))]);
    const typed = text.slice(end);
    setPending({ typed, tags: complete });
    onTexts(unique([...complete, ...partsOf(typed)]));
  };
  const take = (texts: readonly string[]) => {
    isTaken.current = true;
    setPending(undefined);
    onTexts(unique(texts.flatMap((text) => (tags.includes(text) ? [text] : partsOf(text)))));
  };
  return (
    <TagsInput
      label={labelOf("Values", name)}
      description="Enter or a comma after each"
      value={[...tags]}
      onChange={take}
      searchValue={pending?.typed ?? ""}
      onSearchChange={type}
      data={unique(suggestions.map(String))}
      isDuplicate={isDuplicate}
      splitChars={[]}
      {...suggesting}
      placeholder={values.length === 0 ? placeholder : ""}
      error={error}
      classNames={{ pill: "break-word" }}
      className="condition-value"
    />
  );
};
