// What a person is editing in a flag, with the version that was current when they began.
import type { PatchFlag } from "@halyard/core/flags/registry";
import { Button, Group } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import type { LiveFlag } from "../../live.ts";
import { useApi } from "../../session.tsx";
import { settingOf } from "./flag-change.ts";
import { type Outcome, useFlagEdits } from "./flag-edits.tsx";

interface Draft<Value> {
  readonly base: LiveFlag;
  readonly value: Value;
}

/** After any other outcome the draft stays, to be saved again or discarded. */
const isFinished = (outcome: Outcome): boolean => outcome === "done" || outcome === "theirs";

/** Kept for the tab, so that it survives a look at another page, a reload and a sign-in. */
const useKeptDraft = <Value,>(name: string) => {
  const [draft, setDraft] = useState<Draft<Value> | undefined>(() => {
    const kept = sessionStorage.getItem(name);
    return kept === null ? undefined : JSON.parse(kept);
  });
  const keep = (next: Draft<Value> | undefined) => {
    if (next === undefined) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, JSON.stringify(next));
    setDraft(next);
  };
  return [draft, keep] as const;
};

/** `what` is being edited; each has a draft of its own. */
export const useDraft = <Value,>(
  entry: LiveFlag,
  what: string,
  patchOf: (value: Value) => PatchFlag,
) => {
  const edits = useFlagEdits();
  const { environment } = useApi();
  const [draft, setDraft] = useKeptDraft<Value>(
    `halyard-draft ${environment.name} ${entry.flag.key} ${what}`,
  );
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (draft === undefined) return;
    setBusy(true);
    const outcome = await edits.change(draft.base, patchOf(draft.value));
    setBusy(false);
    if (isFinished(outcome)) setDraft(undefined);
  };
  return {
    draft,
    busy,
    edit: (value: Value) => setDraft({ base: draft?.base ?? entry, value }),
    discard: () => setDraft(undefined),
    onSubmit: (event: FormEvent) => void submit(event),
  };
};

/** Says so when somebody else changed the flag since the draft began. */
export const DraftConflict = ({
  draft,
  entry,
}: {
  readonly draft: Draft<unknown>;
  readonly entry: LiveFlag;
}) =>
  draft.base.version === entry.version ? null : (
    <p className="edit-conflict" role="status">
      Somebody else changed this flag: it is now {settingOf(entry.flag)}. When you save, you see
      both versions.
    </p>
  );

interface DraftActionsProps {
  readonly saveLabel: string;
  readonly busy: boolean;
  readonly onDiscard: () => void;
  /** What saving does. */
  readonly children?: ReactNode;
}

export const DraftActions = ({ saveLabel, busy, onDiscard, children }: DraftActionsProps) => (
  <Group mt="sm" justify={children === undefined ? "flex-end" : "space-between"}>
    {children}
    <Group gap="xs">
      <Button variant="default" onClick={onDiscard}>
        Discard
      </Button>
      <Button type="submit" loading={busy}>
        {saveLabel}
      </Button>
    </Group>
  </Group>
);
