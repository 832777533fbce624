// The snippets of one flag, one language at a time.
import type { Flag } from "@halyard/core/flags/registry";
import { NativeSelect } from "@mantine/core";
import { useState } from "react";
import { CodeBlock } from "../components/display/code-block.tsx";
import { Section } from "../components/layout/section.tsx";
import { snippetsFor } from "./snippets.ts";
import { editorOf } from "./types/type-editors.tsx";

export const FlagSnippets = ({ flag }: { readonly flag: Flag }) => {
  const snippets = snippetsFor({
    key: flag.key,
    usesTargetingKey: editorOf(flag.type).usesTargetingKey,
    url: location.origin,
  });
  const [chosen, setChosen] = useState(snippets[0]?.name ?? "");
  const snippet = snippets.find(({ name }) => name === chosen) ?? snippets[0];
  if (snippet === undefined) return null;
  return (
    <Section
      title="In your code"
      aside={
        <NativeSelect
          aria-label="Language"
          size="xs"
          data={snippets.map(({ name }) => name)}
          value={snippet.name}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
      }
    >
      <CodeBlock code={snippet.code} label={`${snippet.name}, with a ${snippet.role} key`} />
    </Section>
  );
};
