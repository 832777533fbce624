// Who gets which variant of a flag: its requirements and rules, as they are stored.
import { memberOf } from "@halyard/core/difference";
import { type Flag, targetingMembersOf } from "@halyard/core/flags/registry";
import { CodeBlock } from "../components/display/code-block.tsx";
import { Section } from "../components/layout/section.tsx";

export const FlagTargeting = ({ flag }: { readonly flag: Flag }) => {
  const members = ["otherwise", ...targetingMembersOf(flag.type).map(([name]) => name)]
    .map((name) => [name, memberOf(flag, name)] as const)
    .filter(([, value]) => value !== undefined);
  if (flag.rules === undefined && members.every(([name]) => name === "otherwise")) return null;
  return (
    <Section title="Targeting">
      <CodeBlock
        label="As the API has it"
        what="targeting"
        code={JSON.stringify(Object.fromEntries(members), null, 2)}
      />
    </Section>
  );
};
