// State, rollout and description of one flag; what is being edited keeps the version that was seen when it began.
import { Button, Group, Switch, Textarea } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { Section } from "../../components/layout/section.tsx";
import type { LiveFlag } from "../../live.ts";
import { useApi } from "../../session.tsx";
import { RolloutBar } from "../rollout-bar.tsx";
import { settingOf, summaryOf, withPatch } from "./flag-change.ts";
import { type Outcome, useFlagEdits } from "./flag-edits.tsx";
import { RolloutInput } from "./rollout-input.tsx";

const maxDescription = 2_000;

/** What is being typed, and the flag as it was when that began. */
interface Draft<Value> {
  readonly base: LiveFlag;
  readonly value: Value;
}

/** Otherwise what was typed stays, to be sent again or left. */
const isSettled = (outcome: Outcome): boolean => outcome === "done" || outcome === "theirs";

const ChangedMeanwhile = ({ draft, entry }: { draft: Draft<unknown>; entry: LiveFlag }) =>
  draft.base.version === entry.version ? null : (
    <p className="changed-meanwhile" role="status">
      Somebody changed this flag while you edit: it is now {settingOf(entry.flag)}. Saving shows
      both versions.
    </p>
  );

const RolloutForm = ({ entry }: { readonly entry: LiveFlag }) => {
  const edits = useFlagEdits();
  const { mayChange } = useApi();
  const [draft, setDraft] = useState<Draft<number> | undefined>();
  const [busy, setBusy] = useState(false);
  if (entry.flag.type !== "rollout") return null;
  const base = draft?.base ?? entry;
  const value = draft?.value ?? entry.flag.percentage;
  const sentences = summaryOf(base.flag, withPatch(base.flag, { percentage: value }));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const outcome = await edits.change(base, { percentage: value });
    setBusy(false);
    if (isSettled(outcome)) setDraft(undefined);
  };
  return (
    <form className="flag-head-rollout" onSubmit={(event) => void submit(event)}>
      <RolloutInput
        value={value}
        disabled={!mayChange || busy}
        onChange={(next) => setDraft((current) => ({ base: current?.base ?? entry, value: next }))}
      />
      {draft !== undefined && <ChangedMeanwhile draft={draft} entry={entry} />}
      {draft !== undefined && sentences.length > 0 && (
        <Group mt="md" justify="space-between">
          <span role="status">{sentences.join(" ")}</span>
          <Group gap="xs">
            <Button variant="default" onClick={() => setDraft(undefined)}>
              Leave it
            </Button>
            <Button type="submit" loading={busy}>
              Save the rollout
            </Button>
          </Group>
        </Group>
      )}
    </form>
  );
};

const DescriptionForm = ({ entry }: { readonly entry: LiveFlag }) => {
  const edits = useFlagEdits();
  const { mayChange } = useApi();
  const [draft, setDraft] = useState<Draft<string> | undefined>();
  const [busy, setBusy] = useState(false);
  const text = draft?.value ?? entry.flag.description ?? "";
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (draft === undefined) return;
    setBusy(true);
    const trimmed = draft.value.trim();
    const description = trimmed === "" ? null : trimmed;
    const outcome = await edits.change(draft.base, { description });
    setBusy(false);
    if (isSettled(outcome)) setDraft(undefined);
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Textarea
        label="Description"
        value={text}
        onChange={(event) => {
          const { value } = event.currentTarget;
          setDraft((current) => ({ base: current?.base ?? entry, value }));
        }}
        placeholder="What it switches, who to ask, when it can go"
        maxLength={maxDescription}
        autosize
        minRows={2}
        maxRows={8}
        readOnly={!mayChange}
      />
      {draft !== undefined && <ChangedMeanwhile draft={draft} entry={entry} />}
      {draft !== undefined && (
        <Group mt="xs" gap="xs" justify="flex-end">
          <Button variant="default" onClick={() => setDraft(undefined)}>
            Leave it
          </Button>
          <Button type="submit" loading={busy}>
            Save the description
          </Button>
        </Group>
      )}
    </form>
  );
};

export const FlagSettings = ({ entry }: { readonly entry: LiveFlag }) => {
  const edits = useFlagEdits();
  const { mayChange } = useApi();
  const { flag } = entry;
  return (
    <>
      <div className="panel flag-head">
        <Switch
          size="lg"
          color="teal.8"
          checked={flag.enabled}
          disabled={!mayChange}
          onChange={() => void edits.change(entry, { enabled: !flag.enabled })}
          label={flag.enabled ? "On" : "Off"}
          {...(flag.type === "rollout" && { description: settingOf(flag) })}
        />
        <RolloutBar flag={flag} size="large" />
        <RolloutForm entry={entry} />
      </div>
      <Section title="About">
        <DescriptionForm entry={entry} />
      </Section>
    </>
  );
};
