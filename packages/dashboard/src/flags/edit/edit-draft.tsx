// What a person is editing in a flag, with the version that was current when they began.
import { patchBetween } from "@halyard/core/difference";
import type { Flag, PatchFlag } from "@halyard/core/flags/registry";
import type { ManagementError } from "@halyard/sdk/management";
import { Button, Group } from "@mantine/core";
import { type FormEvent, type ReactNode, useState, useSyncExternalStore } from "react";
import { FlipPreview } from "../../flips/flip-preview.tsx";
import type { LiveFlag } from "../../live.ts";
import { useApi } from "../../session.tsx";
import { settingOf, withPatch } from "./flag-change.ts";
import { isFinished, useFlagEdits } from "./flag-edits.tsx";
import { draftsOfFlag, keptDrafts, storageKeyOf } from "./kept-drafts.ts";
import { isAllOwn } from "./own-versions.ts";

interface Draft<Value> {
  readonly base: LiveFlag;
  readonly value: Value;
  /** What saving it would change. */
  readonly patch: PatchFlag;
}

/** Those who look at the drafts of others. */
const listeners = new Set<() => void>();

/** Kept for the tab, so that it survives a look at another page, a reload and a sign-in. */
export const useKept = <Value,>(name: string) => {
  const { environment } = useApi();
  const key = storageKeyOf(environment.name, name);
  const [value, setValue] = useState<Value | undefined>(() => {
    const kept = sessionStorage.getItem(key);
    return kept === null ? undefined : JSON.parse(kept);
  });
  const keep = (next: Value | undefined) => {
    if (next === undefined) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(next));
    setValue(next);
    for (const listener of listeners) listener();
  };
  return [value, keep] as const;
};

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** What saving every draft of the flag would change, as JSON; empty when there is none. */
export const useDraftPatch = (flagKey: string): string => {
  const { environment } = useApi();
  return useSyncExternalStore(subscribe, () => {
    const patches = keptDrafts(environment.name, draftsOfFlag(flagKey))
      .map(
        (key) => (JSON.parse(sessionStorage.getItem(key) ?? "{}") as Partial<Draft<unknown>>).patch,
      )
      .filter((patch) => patch !== undefined);
    return patches.length === 0 ? "" : JSON.stringify(Object.assign({}, ...patches));
  });
};

interface Edited<Value> {
  /** Each has a draft of its own. */
  readonly name: string;
  readonly read: (flag: Flag) => Value;
  readonly patchOf: (value: Value) => PatchFlag;
  /** The form shows `refusal` itself. */
  readonly showsRefusal?: true;
}

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export interface DraftState<Value> {
  readonly value: Value;
  readonly draft: Draft<Value> | undefined;
  readonly busy: boolean;
  /** Why the server refused the draft as it is. */
  readonly refusal: ManagementError | undefined;
  readonly edit: (value: Value) => void;
  readonly discard: () => void;
  readonly onSubmit: (event: FormEvent) => void;
}

export const useDraft = <Value,>(
  entry: LiveFlag,
  { name, read, patchOf, showsRefusal }: Edited<Value>,
): DraftState<Value> => {
  const edits = useFlagEdits();
  const { environment } = useApi();
  const [kept, setDraft] = useKept<Draft<Value>>(draftsOfFlag(entry.flag.key) + name);
  const { key } = entry.flag;
  // What the person has saved in another section meanwhile is what they see.
  const draft =
    kept !== undefined && isAllOwn(environment.name, key, kept.base.version, entry.version)
      ? { ...kept, base: entry }
      : kept;
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<ManagementError | undefined>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (draft === undefined) return;
    setBusy(true);
    setRefusal(undefined);
    const onRefused = showsRefusal ? setRefusal : undefined;
    const outcome = await edits.change(draft.base, patchOf(draft.value), onRefused);
    setBusy(false);
    if (isFinished(outcome)) setDraft(undefined);
  };
  /** What is again as it was is no draft: it would hide what others change, with nothing to save. */
  const edit = (value: Value) => {
    const base = draft?.base ?? entry;
    setRefusal(undefined);
    const wanted = patchBetween(base.flag, withPatch(base.flag, patchOf(value)));
    setDraft(isSame(value, read(base.flag)) ? undefined : { base, value, patch: wanted });
  };
  return {
    value: draft?.value ?? read(entry.flag),
    draft,
    busy,
    refusal,
    edit,
    discard() {
      setRefusal(undefined);
      setDraft(undefined);
    },
    onSubmit: (event: FormEvent) => void submit(event),
  };
};

/** Warns if the flag changed after the draft began: by someone else, or by its author in another tab. */
export const DraftConflict = ({
  draft,
  entry,
}: {
  readonly draft: Draft<unknown>;
  readonly entry: LiveFlag;
}) =>
  draft.base.version === entry.version ? null : (
    <p className="edit-conflict" role="status">
      This flag changed: it is now {settingOf(entry.flag)}. When you save, you see both versions.
    </p>
  );

/** Whom saving it would change. */
export const DraftPreview = ({ draft }: { readonly draft: Draft<unknown> }) => {
  const { key } = draft.base.flag;
  return (
    <FlipPreview
      api={useApi()}
      operations={[{ kind: "flag", key, action: "patch", body: draft.patch }]}
    />
  );
};

interface DraftActionsProps {
  readonly saveLabel: string;
  readonly busy: boolean;
  readonly onDiscard: () => void;
  /** What saving does. */
  readonly children?: ReactNode;
}

export const DraftActions = ({ saveLabel, busy, onDiscard, children }: DraftActionsProps) => {
  const { proposes } = useApi();
  return (
    <Group mt="sm" justify={children === undefined ? "flex-end" : "space-between"}>
      {children}
      <Group gap="xs">
        <Button variant="default" onClick={onDiscard}>
          Discard
        </Button>
        <Button type="submit" loading={busy}>
          {proposes ? "Propose" : saveLabel}
        </Button>
      </Group>
    </Group>
  );
};
