// Who gets which variant of a flag: its rules in sentences, or in an editor that is loaded when somebody can use it.
import { Button, Group } from "@mantine/core";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { CodeBlock } from "../components/display/code-block.tsx";
import { Section } from "../components/layout/section.tsx";
import type { LiveFlag } from "../live.ts";
import { loadOrReload } from "../pages/load-page.tsx";
import { useApi } from "../session.tsx";
import { textOf } from "../targeting/rules/json-text.ts";
import { RuleSentences } from "../targeting/rules/rule-sentences.tsx";
import {
  newRule,
  patchOf,
  readTargeting,
  type TargetingDraft,
  withRules,
} from "../targeting/rules/targeting-draft.ts";
import { useDraft } from "./edit/edit-draft.tsx";

const TargetingEditor = lazy(async () => {
  const loaded = await loadOrReload(() => import("../targeting/rules/targeting-editor.tsx"));
  return { default: loaded.TargetingEditor };
});

const Editor = ({ entry }: { readonly entry: LiveFlag }) => {
  const { flag } = entry;
  const state = useDraft<TargetingDraft>(entry, {
    name: "targeting",
    read: readTargeting,
    patchOf: (value) => patchOf(flag.type, value),
    showsRefusal: true,
  });
  const { value, draft, edit } = state;
  const [began, setBegan] = useState<"rule" | "json" | undefined>();
  const isEmpty = flag.rules === undefined && draft === undefined;
  const addButton = useRef<HTMLButtonElement>(null);
  const isShut = isEmpty && began !== "json";
  const wasShut = useRef(isShut);
  useEffect(() => {
    // Everything was discarded or removed, and with it what had the focus.
    if (isShut && !wasShut.current) addButton.current?.focus();
    wasShut.current = isShut;
  }, [isShut]);
  const addRule = () => {
    setBegan("rule");
    edit({ members: withRules(flag.type, value.members, [newRule(flag, [])]) });
  };
  if (isShut) {
    return (
      <>
        <p>No targeting rules</p>
        <Group gap="xs">
          <Button ref={addButton} variant="default" size="compact-sm" onClick={addRule}>
            Add a rule
          </Button>
          <Button variant="subtle" size="compact-sm" onClick={() => setBegan("json")}>
            Edit as JSON
          </Button>
        </Group>
      </>
    );
  }
  return (
    <Suspense fallback={<RuleSentences flag={flag} />}>
      <TargetingEditor entry={entry} state={state} began={began} />
    </Suspense>
  );
};

export const FlagTargeting = ({ entry }: { readonly entry: LiveFlag }) => {
  const { mayChange } = useApi();
  const { flag } = entry;
  if (!mayChange && flag.rules === undefined) return null;
  return (
    <Section title="Targeting">
      {mayChange ? (
        <Editor key={flag.key} entry={entry} />
      ) : (
        <>
          <RuleSentences flag={flag} />
          <details>
            <summary>As JSON</summary>
            <CodeBlock
              label="As the API has it"
              what="targeting"
              code={textOf(readTargeting(flag).members)}
            />
          </details>
        </>
      )}
    </Section>
  );
};
