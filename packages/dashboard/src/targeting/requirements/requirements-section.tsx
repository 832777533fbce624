// The requirements of a flag: chosen from the flags there are, with a picture of all that they reach.
import type { Flag } from "@halyard/core/flags/registry";
import type { Requirement } from "@halyard/core/targeting/targeting";
import { Button, CloseButton, Select } from "@mantine/core";
import { useMemo } from "react";
import { Section } from "../../components/layout/section.tsx";
import {
  DraftActions,
  DraftConflict,
  DraftPreview,
  useDraft,
} from "../../flags/edit/edit-draft.tsx";
import type { LiveFlag } from "../../live.ts";
import { useLiveState } from "../../live-provider.tsx";
import { useApi } from "../../session.tsx";
import "../../styles/targeting/requirements.css";
import { labelOf } from "../conditions/row-props.tsx";
import { useRowFocus } from "../row-focus.ts";
import { requiring, variantsOf } from "./requirement-graph.ts";
import { RequirementPicture } from "./requirement-picture.tsx";

const most = 10;

/** A row without a flag or a variant is not one yet. */
const complete = (requires: readonly Requirement[]): readonly Requirement[] =>
  requires.filter(({ flag, variant }) => flag !== "" && variant !== "");

const requirements = {
  name: "requires",
  read: ({ requires = [] }: Flag) => requires,
  patchOf: (value: readonly Requirement[]) => {
    const wanted = complete(value);
    return { requires: wanted.length === 0 ? null : wanted };
  },
};

interface RowProps {
  /** Such as "requirement 2". */
  readonly name: string;
  readonly requirement: Requirement;
  readonly choices: readonly string[];
  readonly disabled: boolean;
  readonly onChange: (next: Requirement) => void;
  readonly onRemove: () => void;
}

const Row = ({ name, requirement, choices, disabled, onChange, onRemove }: RowProps) => {
  const { byKey } = useLiveState();
  const { flag, variant } = requirement;
  const variants = variantsOf(byKey.get(flag)?.flag);
  const choose = (key: string | null) => {
    if (key === null) return;
    const possible = variantsOf(byKey.get(key)?.flag);
    onChange({ flag: key, variant: possible.includes(variant) ? variant : (possible[0] ?? "") });
  };
  return (
    <div className="requirement-row">
      <Select
        label={labelOf("Flag", name)}
        data={choices.includes(flag) || flag === "" ? choices : [flag, ...choices]}
        value={flag === "" ? null : flag}
        onChange={choose}
        searchable
        limit={50}
        nothingFoundMessage="No such flag"
        disabled={disabled}
        allowDeselect={false}
      />
      <Select
        label={
          <>
            must give<span className="visually-hidden"> ({name})</span>
          </>
        }
        data={variants.includes(variant) || variant === "" ? variants : [variant, ...variants]}
        value={variant === "" ? null : variant}
        onChange={(next) => next !== null && onChange({ flag, variant: next })}
        disabled={disabled || flag === ""}
        allowDeselect={false}
      />
      {!disabled && (
        <CloseButton
          aria-label={`Remove ${name}${flag === "" ? "" : `: ${flag}`}`}
          onClick={onRemove}
        />
      )}
    </div>
  );
};

export const RequirementsSection = ({ entry }: { readonly entry: LiveFlag }) => {
  const { mayChange } = useApi();
  const { flags } = useLiveState();
  const { key } = entry.flag;
  const { value, draft, busy, edit, discard, onSubmit } = useDraft<readonly Requirement[]>(
    entry,
    requirements,
  );
  const { box, removing } = useRowFocus<HTMLFormElement>(".requirement-row");
  const remove = (index: number) => {
    removing(index);
    edit(value.toSpliced(index, 1));
  };
  const keys = useMemo(() => flags.map(({ flag }) => flag.key), [flags]);
  const choices = keys.filter((each) => each !== key && !value.some(({ flag }) => flag === each));
  const shown = useMemo(() => complete(value), [value]);
  const isRequired = useMemo(() => requiring(flags, key).length > 0, [flags, key]);
  if (!mayChange && value.length === 0 && !isRequired) return null;
  return (
    <Section title="Requirements">
      <form onSubmit={onSubmit} ref={box}>
        <p className="dimmed requirement-means">
          Where another flag must give a variant first. Otherwise this flag gives what it gives
          while it is off.
        </p>
        {(mayChange ? value : []).map((requirement, index) => (
          <Row
            // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place, whatever flag is chosen
            key={index}
            name={`requirement ${index + 1}`}
            requirement={requirement}
            choices={choices}
            disabled={busy}
            onChange={(next) => edit(value.with(index, next))}
            onRemove={() => remove(index)}
          />
        ))}
        {mayChange && value.length < most && (
          <Button
            variant="default"
            size="compact-sm"
            data-add
            onClick={() => edit([...value, { flag: "", variant: "" }])}
          >
            Add requirement
          </Button>
        )}
        {draft !== undefined && (
          <>
            <DraftConflict draft={draft} entry={entry} />
            <DraftPreview draft={draft} />
            <DraftActions saveLabel="Save requirements" busy={busy} onDiscard={discard} />
          </>
        )}
      </form>
      <RequirementPicture flagKey={key} requires={shown} />
    </Section>
  );
};
