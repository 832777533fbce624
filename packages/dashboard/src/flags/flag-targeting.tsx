// Who gets which variant of a flag: its requirements and rules, as the API has them.
import { memberOf } from "@halyard/core/difference";
import {
  type Flag,
  ownMembersOf,
  type PatchFlag,
  targetingMembersOf,
} from "@halyard/core/flags/registry";
import { isObject } from "@halyard/core/targeting/mistakes";
import { Anchor, Button, JsonInput } from "@mantine/core";
import type { FormEvent } from "react";
import { CodeBlock } from "../components/display/code-block.tsx";
import { Section } from "../components/layout/section.tsx";
import type { LiveFlag } from "../live.ts";
import { useApi } from "../session.tsx";
import { DraftActions, DraftConflict, useDraft } from "./edit/edit-draft.tsx";

const namesOf = (type: string): readonly string[] => [
  ...ownMembersOf(type)
    .filter(([, { isOptional }]) => isOptional === true)
    .map(([name]) => name),
  ...targetingMembersOf(type).map(([name]) => name),
];

const textOf = (flag: Flag): string => {
  const members = namesOf(flag.type)
    .map((name) => [name, memberOf(flag, name)] as const)
    .filter(([, value]) => value !== undefined);
  return members.length === 0 ? "" : JSON.stringify(Object.fromEntries(members), null, 2);
};

/** Undefined when the text is not an object; an empty text takes everything away. */
const parsed = (text: string): Readonly<Record<string, unknown>> | undefined => {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Something to begin with. */
const exampleOf = (flag: Flag): string => {
  const serve = flag.type === "variant" ? flag.off : "on";
  const rule = { when: { attribute: "plan", op: "in", values: ["pro"] }, serve };
  const otherwise = flag.type === "boolean" && { otherwise: "off" };
  return JSON.stringify({ ...otherwise, rules: [rule] }, null, 2);
};

const TargetingForm = ({ entry }: { readonly entry: LiveFlag }) => {
  const { flag } = entry;
  const { value, draft, busy, edit, discard, onSubmit } = useDraft(entry, {
    name: "targeting",
    read: textOf,
    patchOf: (text: string): PatchFlag => ({
      ...Object.fromEntries(namesOf(flag.type).map((name) => [name, null])),
      ...parsed(text),
    }),
  });
  if (value === "" && draft === undefined) {
    return (
      <p>
        Nobody is treated apart.{" "}
        <Button variant="default" size="compact-sm" onClick={() => edit(exampleOf(flag))}>
          Add a rule
        </Button>
      </p>
    );
  }
  const isValid = parsed(value) !== undefined;
  const submit = (event: FormEvent) => {
    if (isValid) onSubmit(event);
    else event.preventDefault();
  };
  return (
    <form onSubmit={submit}>
      <JsonInput
        label="Rules, requirements, tags and owner as JSON"
        description={
          <>
            As{" "}
            <Anchor href="/docs" underline="always" inherit>
              the API
            </Anchor>{" "}
            has them. An empty text takes them away.
          </>
        }
        value={value}
        onChange={edit}
        error={isValid ? undefined : "This is not a JSON object."}
        autosize
        minRows={4}
        maxRows={30}
        disabled={busy}
        classNames={{ input: "mono" }}
        spellCheck={false}
      />
      {draft !== undefined && (
        <>
          <DraftConflict draft={draft} entry={entry} />
          <DraftActions saveLabel="Save targeting" busy={busy} onDiscard={discard} />
        </>
      )}
    </form>
  );
};

export const FlagTargeting = ({ entry }: { readonly entry: LiveFlag }) => {
  const { mayChange } = useApi();
  const text = textOf(entry.flag);
  if (!mayChange && text === "") return null;
  return (
    <Section title="Targeting">
      {mayChange ? (
        <TargetingForm key={entry.flag.key} entry={entry} />
      ) : (
        <CodeBlock label="As the API has it" what="targeting" code={text} />
      )}
    </Section>
  );
};
