// The snippets of one flag, one language at a time.
import type { Flag } from "@halyard/core/flags/registry";
import { Anchor, NativeSelect, Stack } from "@mantine/core";
import { useState } from "react";
import { Link } from "wouter";
import { CodeBlock } from "../components/display/code-block.tsx";
import { Time } from "../components/display/time.tsx";
import { Section } from "../components/layout/section.tsx";
import { useApi } from "../session.tsx";
import { keyPlaceholder, snippetsFor } from "./snippets.ts";
import { editorOf } from "./types/type-editors.tsx";
import { dayInHours, lastEvaluation, useFlagUsage } from "./usage/use-flag-usage.ts";

/** Until the flag was evaluated for the first time, its page looks for it this often, in milliseconds. */
const lookEvery = 2_000;

const FirstEvaluation = ({ flagKey }: { readonly flagKey: string }) => {
  const { data } = useFlagUsage(flagKey, dayInHours, (usage) =>
    usage?.lastEvaluatedAt === null ? lookEvery : false,
  );
  if (data === undefined) return null;
  const last = lastEvaluation(data);
  return (
    <p role="status">
      {last === undefined ? (
        "Run the code once: the evaluation appears here within a minute. None so far."
      ) : (
        <>
          {data.lastEvaluatedAt === null
            ? "Evaluated only in requests for all flags so far. Last evaluated: "
            : "It works. Last evaluated: "}
          <Time at={last} />.
        </>
      )}
    </p>
  );
};

export const FlagSnippets = ({ flag }: { readonly flag: Flag }) => {
  const { environment, may } = useApi();
  const snippets = snippetsFor({
    key: flag.key,
    usesTargetingKey: editorOf(flag.type).usesTargetingKey || flag.rules !== undefined,
    ...(flag.type === "variant" && { valueType: flag.valueType }),
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
      <p className="dimmed">
        {snippet.code.includes(keyPlaceholder) ? (
          <>
            Replace <code className="mono">{keyPlaceholder}</code> with
          </>
        ) : (
          <>
            Set <code className="mono">HALYARD_API_KEY</code> to
          </>
        )}{" "}
        a {snippet.role} key of {environment.name}.{" "}
        {may("keys.write") && (
          <>
            <Anchor inherit component={Link} href="/keys">
              Create a key
            </Anchor>
            .{" "}
          </>
        )}
        All calls are in the{" "}
        <Anchor inherit href="/docs">
          API reference
        </Anchor>
        .
      </p>
      {snippet.packages !== undefined && <p className="dimmed">{snippet.packages}</p>}
      <Stack gap="sm">
        {snippet.install !== undefined && <CodeBlock code={snippet.install} label="Install" />}
        <CodeBlock code={snippet.code} label={snippet.name} />
      </Stack>
      <FirstEvaluation flagKey={flag.key} />
    </Section>
  );
};
