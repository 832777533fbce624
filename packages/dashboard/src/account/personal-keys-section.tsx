// The person's own keys in the environment that is shown: they may do what the person may, or less, and end with them.
import type { PersonalKey } from "@halyard/sdk/management";
import { Button, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { valueOrThrow } from "../api.ts";
import { StatusBadge } from "../components/display/status-badge.tsx";
import { Time } from "../components/display/time.tsx";
import { useConfirm } from "../components/feedback/confirm.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { notifyDone, notifyError } from "../components/feedback/notify.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { Section } from "../components/layout/section.tsx";
import { useApi } from "../session.tsx";
import { CreatePersonalKey } from "./create-personal-key.tsx";

interface KeyRowProps {
  readonly apiKey: PersonalKey;
  readonly onRevoke: () => void;
}

const KeyRow = ({ apiKey, onRevoke }: KeyRowProps) => {
  const { name, role, expiresAt, lastUsedAt } = apiKey;
  const isOver = expiresAt !== null && new Date(expiresAt).getTime() <= Date.now();
  return (
    <li className="account-row">
      <div className="account-row-words">
        <div>
          <strong>{name}</strong> <span className="dimmed">{role}</span>{" "}
          {isOver && <StatusBadge tone="bad">expired</StatusBadge>}
        </div>
        <div className="dimmed">
          {lastUsedAt === null ? (
            "never used"
          ) : (
            <>
              last used <Time at={lastUsedAt} />
            </>
          )}
          {expiresAt !== null && (
            <>
              , {isOver ? "expired" : "expires"} <Time at={expiresAt} />
            </>
          )}
        </div>
      </div>
      <Button
        variant="default"
        size="compact-sm"
        onClick={onRevoke}
        aria-label={`Revoke key ${name}`}
      >
        Revoke
      </Button>
    </li>
  );
};

export const PersonalKeysSection = () => {
  const { management, environment } = useApi();
  const queries = useQueryClient();
  const ask = useConfirm();
  const [creating, setCreating] = useState(false);
  const queryKey = [environment.name, "personal-keys"];
  const query = useQuery({
    queryKey,
    queryFn: async () => valueOrThrow(await management.personalKeys.list()),
  });
  const refetch = () => void queries.invalidateQueries({ queryKey });
  const revoke = async ({ id, name }: PersonalKey) => {
    const isSure = await ask({
      title: `Revoke key ${name}?`,
      body: "Programs that use it are refused within a second. This cannot be undone.",
      confirmLabel: "Revoke key",
      danger: true,
    });
    if (!isSure) return;
    const result = await management.personalKeys.revoke(id);
    if (result.ok) notifyDone({ title: name, message: "Key revoked." });
    else notifyError(`${name} was not revoked`, result.error);
    refetch();
  };
  return (
    <Section
      title={`Personal keys in ${environment.name}`}
      aside={
        <Button variant="default" size="xs" onClick={() => setCreating(true)}>
          Create personal key
        </Button>
      }
    >
      <Text className="dimmed" mb="sm">
        For the command line and for programs that act as you. They never may more than you do, and
        end when your account does.
      </Text>
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={1} />}
      <ul className="account-rows" aria-label="Personal keys">
        {query.data?.map((key) => (
          <KeyRow key={key.id} apiKey={key} onRevoke={() => void revoke(key)} />
        ))}
      </ul>
      {creating && <CreatePersonalKey onClose={() => setCreating(false)} onCreated={refetch} />}
    </Section>
  );
};
