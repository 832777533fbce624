// Targeting as JSON, beside the rows: what is typed here changes them once it is valid, and the other way round.
import { Anchor, Textarea } from "@mantine/core";
import { parseText, textOf } from "./json-text.ts";
import type { TargetingDraft } from "./targeting-draft.ts";

interface JsonPanelProps {
  readonly value: TargetingDraft;
  readonly onChange: (value: TargetingDraft) => void;
  readonly disabled: boolean;
}

export const JsonPanel = ({ value, onChange, disabled }: JsonPanelProps) => {
  const { members, typed } = value;
  const parsed = typed === undefined ? undefined : parseText(typed);
  const type = (text: string) => {
    const read = parseText(text);
    const next = read.ok ? read.members : members;
    onChange(text === textOf(next) ? { members: next } : { members: next, typed: text });
  };
  return (
    <Textarea
      label="Targeting as JSON"
      description={
        <>
          As{" "}
          <Anchor href="/docs" underline="always" inherit>
            the API
          </Anchor>{" "}
          has it. An empty text takes all of it away. Requirements, tags and the owner have forms of
          their own.
        </>
      }
      value={typed ?? textOf(members)}
      onChange={(event) => type(event.currentTarget.value)}
      // Then it is written as the page writes it.
      onBlur={() => parsed?.ok === true && onChange({ members })}
      error={parsed?.ok === false ? parsed.problem : undefined}
      autosize
      minRows={6}
      maxRows={40}
      disabled={disabled}
      classNames={{ input: "mono" }}
      spellCheck={false}
      className="rules-json"
      data-place="json"
    />
  );
};
