// What those get for whom no rule decides, and what splits go by.
import { choiceOf, type Flag } from "@halyard/core/flags/registry";
import type { Members, ValidationError } from "@halyard/core/targeting/mistakes";
import { Autocomplete, Group, Radio, TextInput } from "@mantine/core";
import type { SuggestedNames } from "../collect-names.ts";
import { mistakeAt, suggesting } from "../conditions/row-props.tsx";
import { servePhrase } from "../sentence.ts";
import { type DraftRule, withText } from "./targeting-draft.ts";

interface EveryoneElseProps {
  readonly flag: Flag;
  readonly members: Members;
  readonly rules: readonly DraftRule[];
  readonly onChange: (members: Members) => void;
  readonly names: SuggestedNames;
  readonly mistakes: readonly ValidationError[];
  readonly hint: string | undefined;
}

const Otherwise = ({ flag, members, rules, onChange, mistakes, hint }: EveryoneElseProps) => {
  if (flag.type !== "boolean") {
    return (
      <div>
        <p className="everyone-else">
          Everyone else gets {servePhrase(choiceOf(flag).otherwise)}: this is set above.
        </p>
        {hint !== undefined && <p className="rule-hint">{hint}</p>}
      </div>
    );
  }
  if (rules.length === 0) {
    return flag.rules === undefined ? null : (
      <p className="rule-hint">
        Without rules the flag is{" "}
        {flag.enabled ? "on for everyone" : "off, and on for everyone once you turn it on"}.
      </p>
    );
  }
  return (
    <Radio.Group
      label="Everyone else gets"
      value={typeof members.otherwise === "string" ? members.otherwise : null}
      onChange={(otherwise) => onChange({ ...members, otherwise })}
      error={mistakeAt(mistakes, "otherwise")}
      data-place="otherwise"
      required
    >
      <Group gap="md" mt={4}>
        <Radio value="on" label="on" />
        <Radio value="off" label="off" />
      </Group>
    </Radio.Group>
  );
};

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Only of a flag that splits. */
const Bucketing = ({ flag, members, rules, onChange, names, mistakes }: EveryoneElseProps) => {
  const { bucketBy, bucketSeed } = members;
  const isSet = bucketBy !== undefined || bucketSeed !== undefined;
  const splits = flag.type !== "boolean" || rules.some(({ serve }) => Array.isArray(serve));
  if (!isSet && !splits) return null;
  return (
    <div className="rule-names">
      <Autocomplete
        label="Split by"
        description="The attribute that decides a person’s bucket"
        placeholder="targetingKey"
        data={[...names.attributes]}
        {...suggesting}
        value={textOf(bucketBy)}
        onChange={(text) => onChange(withText(members, "bucketBy", text))}
        error={mistakeAt(mistakes, "bucketBy")}
        className="rule-name"
        data-place="bucketBy"
      />
      <TextInput
        label="Split seed"
        description="Flags with the same seed reach the same people"
        placeholder={flag.key}
        value={textOf(bucketSeed)}
        onChange={(event) => onChange(withText(members, "bucketSeed", event.currentTarget.value))}
        error={mistakeAt(mistakes, "bucketSeed")}
        className="rule-name"
        data-place="bucketSeed"
      />
    </div>
  );
};

export const EveryoneElse = (props: EveryoneElseProps) => (
  <>
    <Otherwise {...props} />
    {props.rules.length > 0 && <Bucketing {...props} />}
  </>
);
