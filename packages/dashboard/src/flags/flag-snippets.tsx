// The snippets of one flag, one language at a time.
import type { Flag } from "@halyard/core/flags/registry";
import { Anchor, NativeSelect, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { valueOrThrow } from "../api.ts";
import { CodeBlock } from "../components/display/code-block.tsx";
import { Time } from "../components/display/time.tsx";
import { Section } from "../components/layout/section.tsx";
import { useApi } from "../session.tsx";
import { snippetsFor } from "./snippets.ts";
import { editorOf } from "./types/type-editors.tsx";

/** Until the flag was evaluated for the first time, its page looks for it this often, in milliseconds. */
const lookEvery = 2_000;

const FirstEvaluation = ({ flagKey }: { readonly flagKey: string }) => {
  const { management, environment } = useApi();
  const { data } = useQuery({
    queryKey: [environment.name, "flag-usage", flagKey, "first"],
    queryFn: async () => valueOrThrow(await management.flags.usage(flagKey, { hours: 24 })),
    refetchInterval: ({ state }) => (state.data?.lastEvaluatedAt === null ? lookEvery : false),
  });
  if (data === undefined) return null;
  return (
    <p role="status">
      {data.lastEvaluatedAt === null ? (
        "Run the code once: the evaluation appears here within a minute. None so far."
      ) : (
        <>
          It works: last evaluated <Time at={data.lastEvaluatedAt} />.
        </>
      )}
    </p>
  );
};

export const FlagSnippets = ({ flag }: { readonly flag: Flag }) => {
  const { environment, mayChange } = useApi();
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
      <p className="dimmed">
        Set <code className="mono">HALYARD_API_KEY</code> to a {snippet.role} key of{" "}
        {environment.name}.{" "}
        {mayChange && (
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
      <Stack gap="sm">
        {snippet.install !== undefined && <CodeBlock code={snippet.install} label="Install" />}
        <CodeBlock code={snippet.code} label={snippet.name} />
      </Stack>
      <FirstEvaluation flagKey={flag.key} />
    </Section>
  );
};
