// The editor of one rule: its name, its description, whom it matches and what it serves.
import type { Condition } from "@halyard/core/targeting/conditions/condition";
import type { ValidationError } from "@halyard/core/targeting/mistakes";
import type { Serve } from "@halyard/core/targeting/targeting";
import { Textarea, TextInput } from "@mantine/core";
import type { SuggestedNames } from "../collect-names.ts";
import { ConditionEditor } from "../conditions/condition-editor.tsx";
import { mistakeAt } from "../conditions/row-props.tsx";
import { ServeInput } from "./serve-input.tsx";
import type { DraftRule } from "./targeting-draft.ts";

export interface RuleBodyProps {
  readonly rule: DraftRule;
  readonly onChange: (rule: DraftRule) => void;
  readonly place: string;
  readonly variants: readonly string[];
  /** What the rule serves now; undefined of a new one. */
  readonly saved: Serve | undefined;
  readonly names: SuggestedNames;
  readonly mistakes: readonly ValidationError[];
}

export const RuleBody = (props: RuleBodyProps) => {
  const { rule, onChange, place, variants, saved, names, mistakes } = props;
  const { id = "", description = "", when, serve } = rule;
  const describe = (text: string) => {
    const { description: _, ...rest } = rule;
    onChange(text === "" ? rest : { ...rule, description: text });
  };
  return (
    <div className="rule-body">
      <div className="rule-names">
        <TextInput
          label="Name"
          description="As history and usage call it"
          value={id}
          onChange={(event) => onChange({ ...rule, id: event.currentTarget.value })}
          error={mistakeAt(mistakes, `${place}.id`)}
          spellCheck={false}
          autoComplete="off"
          classNames={{ input: "mono" }}
          className="rule-name"
          data-place={`${place}.id`}
        />
        <Textarea
          label="Description"
          description="Why there is such a rule"
          value={description}
          onChange={(event) => describe(event.currentTarget.value)}
          error={mistakeAt(mistakes, `${place}.description`)}
          autosize
          minRows={1}
          maxRows={6}
          className="rule-description"
          data-place={`${place}.description`}
        />
      </div>
      <ConditionEditor
        label="If"
        value={(when ?? null) as Condition | null}
        onChange={(next) => onChange({ ...rule, when: next })}
        names={names}
        place={`${place}.when`}
        mistakes={mistakes}
      />
      <ServeInput
        value={serve}
        onChange={(next) => onChange({ ...rule, serve: next })}
        variants={variants}
        saved={saved}
        place={`${place}.serve`}
        mistakes={mistakes}
      />
    </div>
  );
};
