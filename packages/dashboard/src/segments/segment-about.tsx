// The description and the condition of a segment, saved together.

import { isSameValue } from "@halyard/core/difference";
import { maxDescriptionLength } from "@halyard/core/flags/rules";
import type { Condition } from "@halyard/core/targeting/conditions/condition";
import { Textarea } from "@mantine/core";
import { type FormEvent, useRef, useState } from "react";
import { ReadOnly } from "../components/display/read-only.tsx";
import { Section } from "../components/layout/section.tsx";
import { DraftActions, useKept } from "../flags/edit/edit-draft.tsx";
import { isFinished } from "../flags/edit/flag-edits.tsx";
import { FlipPreview } from "../flips/flip-preview.tsx";
import type { LiveSegment } from "../live.ts";
import { useApi } from "../session.tsx";
import { ConditionEditor } from "../targeting/conditions/condition-editor.tsx";
import { useSuggestedNames } from "../targeting/suggested-names.ts";
import { useSegmentEdits } from "./segment-edits.tsx";
import { conditionText } from "./segment-words.ts";

interface About {
  readonly description: string;
  readonly when: Condition | null;
}

interface Draft {
  readonly base: LiveSegment;
  readonly value: About;
}

const read = ({ segment: { description, when } }: LiveSegment): About => ({
  description: description ?? "",
  when,
});

/** The description alone changes nobody. */
const changedIn = ({ base, value: { when } }: Draft) =>
  isSameValue(when, base.segment.when) ? {} : { when };

export const SegmentAbout = ({ entry }: { readonly entry: LiveSegment }) => {
  const api = useApi();
  const { mayChange } = api;
  const edits = useSegmentEdits();
  const [draft, setDraft] = useKept<Draft>(`segment ${entry.segment.key}`);
  const names = useSuggestedNames();
  const [busy, setBusy] = useState(false);
  const first = useRef<HTMLTextAreaElement>(null);
  const base = draft?.base ?? entry;
  const value = draft?.value ?? read(entry);
  /** What is again as it was is no draft. */
  const edit = (change: Partial<About>) => {
    const next = { ...value, ...change };
    const isSame = JSON.stringify(next) === JSON.stringify(read(base));
    setDraft(isSame ? undefined : { base, value: next });
  };
  /** The buttons are gone then. */
  const finish = () => {
    setDraft(undefined);
    first.current?.focus();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (draft === undefined) return;
    setBusy(true);
    const description = value.description.trim();
    const outcome = await edits.change(base, {
      description: description === "" ? null : description,
      when: value.when,
    });
    setBusy(false);
    if (isFinished(outcome)) finish();
  };
  const isOutdated =
    draft !== undefined && JSON.stringify(read(base)) !== JSON.stringify(read(entry));
  if (!mayChange) {
    return (
      <Section title="About">
        <ReadOnly label="Description">{entry.segment.description}</ReadOnly>
        <ReadOnly label="Condition for unlisted users">
          {entry.segment.when === null ? "" : conditionText(entry.segment.when)}
        </ReadOnly>
      </Section>
    );
  }
  return (
    <Section title="About">
      <form onSubmit={(event) => void submit(event)}>
        <Textarea
          ref={first}
          label="Description"
          value={value.description}
          onChange={(event) => edit({ description: event.currentTarget.value })}
          placeholder="Who is in it, and what for"
          maxLength={maxDescriptionLength}
          autosize
          minRows={2}
          maxRows={8}
        />
        <div className="segment-condition">
          <ConditionEditor
            label="Condition for unlisted users"
            value={value.when}
            onChange={(when) => edit({ when })}
            names={names}
            mayNameSegments={false}
            disabled={busy}
          />
        </div>
        {isOutdated && (
          <p className="edit-conflict" role="status">
            This segment changed. When you save, you see both versions.
          </p>
        )}
        {draft !== undefined && (
          <FlipPreview
            api={api}
            operations={[
              { kind: "segment", key: entry.segment.key, action: "patch", body: changedIn(draft) },
            ]}
          />
        )}
        {draft !== undefined && (
          <DraftActions saveLabel="Save segment" busy={busy} onDiscard={finish} />
        )}
      </form>
    </Section>
  );
};
