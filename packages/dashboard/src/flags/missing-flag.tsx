// The page of a flag that this environment does not have: create it here, or copy it from another environment.
import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { useApi, useApis } from "../session.tsx";
import { TryItSection } from "../targeting/try-it/try-it-section.tsx";
import { CreateFlag } from "./edit/create-flag.tsx";
import { useFlagEdits } from "./edit/flag-edits.tsx";
import { FlagHistory } from "./flag-history.tsx";

/** The same flag in the other environments of the session. */
const useElsewhere = (flagKey: string) => {
  const { environment } = useApi();
  const others = useApis().filter((api) => api.environment.name !== environment.name);
  const query = useQuery({
    queryKey: ["elsewhere", flagKey, ...others.map((api) => api.environment.name)],
    queryFn: async () => {
      const found = await Promise.all(
        others.map(async ({ management, environment: { name } }) => {
          // Found in a list: a browser reports each 404 as an error.
          const result = await management.flags.list({ q: flagKey });
          const flag = result.ok ? result.value.find(({ key }) => key === flagKey) : undefined;
          return flag === undefined ? [] : [{ name, flag }];
        }),
      );
      return found.flat();
    },
  });
  return query.data ?? [];
};

/** Whether history knows the flag. */
const useWasThere = (flagKey: string): boolean => {
  const { management, environment } = useApi();
  const query = useQuery({
    queryKey: [environment.name, "flag", flagKey, "was there"],
    queryFn: async () => {
      const result = await management.history({ subject: "flag", id: flagKey, limit: 1 });
      return result.ok && result.value.length > 0;
    },
  });
  return query.data ?? false;
};

export const MissingFlag = ({ flagKey }: { readonly flagKey: string }) => {
  const { environment, mayChange } = useApi();
  const edits = useFlagEdits();
  const elsewhere = useElsewhere(flagKey);
  const wasThere = useWasThere(flagKey);
  const [creating, setCreating] = useState(false);
  const close = () => setCreating(false);
  return (
    <>
      <EmptyState
        title="Flag not found"
        action={
          mayChange && (
            <Group justify="center" gap="xs">
              <Button onClick={() => setCreating(true)}>Create it here</Button>
              {elsewhere.map(({ name, flag }) => (
                <Button key={name} variant="default" onClick={() => void edits.recreate(flag)}>
                  Copy from {name}
                </Button>
              ))}
            </Group>
          )
        }
      >
        There is no flag <strong className="mono">{flagKey}</strong> in {environment.name}.
        {elsewhere.length > 0 &&
          ` It exists in ${elsewhere.map(({ name }) => name).join(" and ")}.`}
      </EmptyState>
      <CreateFlag opened={creating} initialKey={flagKey} onClose={close} onCreated={close} />
      {mayChange && wasThere && <TryItSection key={flagKey} flagKey={flagKey} isGone />}
      {wasThere && <FlagHistory flagKey={flagKey} entry={undefined} />}
    </>
  );
};
