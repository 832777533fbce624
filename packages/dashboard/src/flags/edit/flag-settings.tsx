// State, the members of its type and the description of one flag.
import type { Flag, FlagMembers } from "@halyard/core/flags/registry";
import { maxDescriptionLength } from "@halyard/core/flags/rules";
import { Switch, Textarea } from "@mantine/core";
import { OnOff, ReadOnly } from "../../components/display/read-only.tsx";
import { Section } from "../../components/layout/section.tsx";
import type { LiveFlag } from "../../live.ts";
import { useApi } from "../../session.tsx";
import { editorOf } from "../types/type-editors.tsx";
import { DraftActions, DraftConflict, DraftPreview, useDraft } from "./edit-draft.tsx";
import { membersOfFlag, memberText, summaryOf, withPatch } from "./flag-change.ts";
import { useFlagEdits } from "./flag-edits.tsx";
import { FlagLabels } from "./flag-labels.tsx";

const members = {
  name: "members",
  read: membersOfFlag,
  patchOf: (value: FlagMembers) => value,
};
const description = {
  name: "description",
  read: (flag: Flag) => flag.description ?? "",
  patchOf: (value: string) => ({ description: value.trim() === "" ? null : value.trim() }),
};

const labels: Readonly<Record<string, string>> = {
  percentage: "Percent of users",
  valueType: "Values",
  variants: "Variants",
  off: "While off",
  otherwise: "While on",
};

const textOf = (flag: Flag, member: string): string | undefined =>
  flag.type === "variant" && member === "variants"
    ? Object.entries(flag.variants)
        .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
        .join("\n")
    : memberText(flag, member);

/** For those who cannot edit. */
const MembersText = ({ flag }: { readonly flag: Flag }) =>
  Object.keys(membersOfFlag(flag)).map((member) => {
    const text = textOf(flag, member);
    const label = labels[member] ?? member;
    const when = member === "percentage" && !flag.enabled ? " when on" : "";
    return text === undefined ? null : (
      <ReadOnly key={member} label={`${label}${when}`}>
        {text}
      </ReadOnly>
    );
  });

const MembersForm = ({ entry }: { readonly entry: LiveFlag }) => {
  const { value, draft, busy, edit, discard, onSubmit } = useDraft<FlagMembers>(entry, members);
  const { MembersInput } = editorOf(entry.flag.type);
  if (MembersInput === undefined) return null;
  return (
    <form className="flag-head-members" onSubmit={onSubmit}>
      <MembersInput
        value={value}
        saved={membersOfFlag(draft?.base.flag ?? entry.flag)}
        disabled={busy}
        isOff={!entry.flag.enabled}
        onChange={edit}
      />
      {draft !== undefined && (
        <>
          <DraftConflict draft={draft} entry={entry} />
          <DraftPreview draft={draft} />
          <DraftActions saveLabel="Save changes" busy={busy} onDiscard={discard}>
            <span role="status" className="break-word">
              {summaryOf(draft.base.flag, withPatch(draft.base.flag, draft.value)).join(" ")}
            </span>
          </DraftActions>
        </>
      )}
    </form>
  );
};

const DescriptionForm = ({ entry }: { readonly entry: LiveFlag }) => {
  const { mayChange } = useApi();
  const { value, draft, busy, edit, discard, onSubmit } = useDraft(entry, description);
  if (!mayChange) return <ReadOnly label="Description">{entry.flag.description}</ReadOnly>;
  return (
    <form onSubmit={onSubmit}>
      <Textarea
        label="Description"
        value={value}
        onChange={(event) => edit(event.currentTarget.value)}
        placeholder="What the flag controls, who owns it, when it can be removed"
        maxLength={maxDescriptionLength}
        autosize
        minRows={2}
        maxRows={8}
      />
      {draft !== undefined && (
        <>
          <DraftConflict draft={draft} entry={entry} />
          <DraftActions saveLabel="Save description" busy={busy} onDiscard={discard} />
        </>
      )}
    </form>
  );
};

export const FlagSettings = ({ entry }: { readonly entry: LiveFlag }) => {
  const edits = useFlagEdits();
  const { mayChange } = useApi();
  const { flag } = entry;
  const { MembersInput, Reach } = editorOf(flag.type);
  return (
    <>
      <div className="panel flag-head">
        {mayChange ? (
          <Switch
            size="lg"
            color="teal.8"
            checked={flag.enabled}
            onChange={() => void edits.change(entry, { enabled: !flag.enabled })}
            label={flag.enabled ? "On" : "Off"}
          />
        ) : (
          <div>
            <OnOff isOn={flag.enabled} />
          </div>
        )}
        {MembersInput === undefined && <Reach flag={flag} size="large" />}
        {MembersInput !== undefined && mayChange && <MembersForm entry={entry} />}
        {MembersInput !== undefined && !mayChange && (
          <div>
            <MembersText flag={flag} />
          </div>
        )}
      </div>
      <Section title="About">
        <DescriptionForm entry={entry} />
        <FlagLabels entry={entry} />
      </Section>
    </>
  );
};
