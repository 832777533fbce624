// Edits who gets which variant of a flag: rules in rows, the same as JSON, what is wrong with them, and what saving changes.
import type { Members, ValidationError } from "@halyard/core/targeting/mistakes";
import { Button } from "@mantine/core";
import { type FormEvent, useEffect, useMemo, useRef, useState } from "react";
import {
  DraftActions,
  DraftConflict,
  DraftPreview,
  type DraftState,
} from "../../flags/edit/edit-draft.tsx";
import { withPatch } from "../../flags/edit/flag-change.ts";
import { FlagDiff } from "../../flags/edit/flag-diff.tsx";
import type { LiveFlag } from "../../live.ts";
import { useSuggestedNames } from "../suggested-names.ts";
import { EveryoneElse } from "./everyone-else.tsx";
import { JsonPanel } from "./json-panel.tsx";
import { parseText } from "./json-text.ts";
import { focusPlace, MistakeSummary } from "./mistake-summary.tsx";
import { RuleList } from "./rule-list.tsx";
import { splitHints } from "./split-hints.ts";
import {
  isFilledIn,
  isUnderstood,
  mistakesIn,
  patchOf,
  ruleAt,
  rulesOf,
  type TargetingDraft,
  withRules,
} from "./targeting-draft.ts";
import "../../styles/targeting/rules.css";

interface TargetingEditorProps {
  readonly entry: LiveFlag;
  readonly state: DraftState<TargetingDraft>;
  /** How the person began: with a first rule, or with JSON. */
  readonly began: "rule" | "json" | undefined;
}

const none: readonly ValidationError[] = [];

/** Of the draft as it is, and what the server has said about it. */
const useMistakes = ({ entry, state }: TargetingEditorProps) => {
  const { value, draft, refusal } = state;
  const { flag } = draft?.base ?? entry;
  const local = useMemo(() => (isUnderstood(flag) ? mistakesIn(flag, value) : none), [flag, value]);
  const refused = useMemo(
    () => refusal?.details?.map(({ field, message }) => ({ place: field, message })) ?? none,
    [refusal],
  );
  return { local, refused };
};

export const TargetingEditor = (props: TargetingEditorProps) => {
  const { entry, state, began } = props;
  const { value, draft, busy, edit, discard, onSubmit, refusal } = state;
  const { flag } = draft?.base ?? entry;
  const { members, typed } = value;
  const names = useSuggestedNames();
  const { local, refused } = useMistakes(props);
  /** Once somebody wants to save, also what is only not filled in yet is a mistake. */
  const [wantsToSave, setWantsToSave] = useState(false);
  const [showsJson, setShowsJson] = useState(began === "json" || typed !== undefined);
  const [target, setTarget] = useState<{ readonly place: string; readonly index: number }>();
  const form = useRef<HTMLFormElement>(null);
  const summary = useRef<HTMLDivElement>(null);

  const hadDraft = useRef(false);
  useEffect(() => {
    if (began === "json" && form.current !== null) focusPlace(form.current, "json");
  }, [began]);
  useEffect(() => {
    // The button that saved or discarded it is gone.
    const isLost = hadDraft.current && document.activeElement === document.body;
    if (draft === undefined && isLost) form.current?.focus();
    hadDraft.current = draft !== undefined;
  }, [draft]);
  useEffect(() => {
    if (target !== undefined && form.current !== null) focusPlace(form.current, target.place);
  }, [target]);
  useEffect(() => {
    if (refusal !== undefined || wantsToSave) summary.current?.focus();
  }, [refusal, wantsToSave]);

  const isTextValid = typed === undefined || parseText(typed).ok;
  const rules = rulesOf(members);
  const shown = [
    ...local.filter(({ place }) => wantsToSave || isFilledIn(members, place)),
    ...refused,
  ];
  const hints = splitHints(rules ?? [], flag.type === "rollout" ? flag.percentage : undefined);
  const set = (next: Members) => edit({ members: next });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isTextValid && form.current !== null) return focusPlace(form.current, "json");
    if (local.length === 0) return onSubmit(event);
    if (wantsToSave) summary.current?.focus();
    setWantsToSave(true);
  };
  const stop = () => {
    setWantsToSave(false);
    discard();
  };
  const showsSummary = (wantsToSave && local.length > 0) || refusal !== undefined;

  return (
    <form onSubmit={submit} noValidate ref={form} tabIndex={-1} aria-label="Targeting">
      {showsSummary && (
        <MistakeSummary
          ref={summary}
          mistakes={shown}
          message={refusal?.message}
          rules={rules ?? []}
          onGo={(place) => setTarget({ place, index: ruleAt(place) ?? -1 })}
        />
      )}
      <div className="targeting-parts" data-json={showsJson || undefined}>
        <fieldset className="targeting-rows" disabled={busy || !isTextValid}>
          <legend className="visually-hidden">Rules</legend>
          {rules === undefined ? (
            <p>The JSON has something else than a list of rules: correct it there.</p>
          ) : (
            <>
              <RuleList
                flag={flag}
                rules={rules}
                onChange={(next) => set(withRules(flag.type, members, next))}
                names={names}
                mistakes={shown}
                hints={hints}
                isNew={began === "rule"}
                opened={target}
              />
              <EveryoneElse
                flag={flag}
                members={members}
                rules={rules}
                onChange={set}
                names={names}
                mistakes={shown}
                hint={hints.at(-1)}
              />
            </>
          )}
        </fieldset>
        {showsJson && <JsonPanel value={value} onChange={edit} disabled={busy} />}
      </div>
      <Button
        variant="subtle"
        size="compact-sm"
        aria-expanded={showsJson}
        onClick={() => setShowsJson(!showsJson)}
      >
        {showsJson ? "Hide the JSON" : "Show the JSON"}
      </Button>
      {draft !== undefined && (
        <div className="targeting-save">
          <strong>What saving changes</strong>
          {local.length === 0 ? (
            <>
              <FlagDiff before={flag} after={withPatch(flag, patchOf(flag.type, value))} />
              <DraftPreview draft={draft} />
            </>
          ) : (
            <p className="dimmed">The rules are not complete yet.</p>
          )}
          <DraftConflict draft={draft} entry={entry} />
          <DraftActions saveLabel="Save targeting" busy={busy} onDiscard={stop} />
        </div>
      )}
    </form>
  );
};
