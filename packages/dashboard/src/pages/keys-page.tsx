// The API keys of the environment: list, create, revoke.
import type { ApiKey } from "@halyard/sdk/management";
import { Alert, Button, Table, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { valueOrThrow } from "../api.ts";
import { Icon } from "../components/display/icon.tsx";
import { StatusBadge } from "../components/display/status-badge.tsx";
import { Time } from "../components/display/time.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { PageTitle } from "../components/layout/page-title.tsx";
import { Permitted } from "../components/layout/permitted.tsx";
import { useCreating } from "../components/layout/use-creating.ts";
import { formatNumber, formatPercent } from "../format.ts";
import { CreateKey } from "../keys/create-key.tsx";
import { useRevokeKey } from "../keys/revoke-key.ts";
import { roles } from "../keys/roles.ts";
import { useApi } from "../session.tsx";
import "../styles/pages/keys-events.css";

const refetchEvery = 5_000;

interface KeyRowProps {
  readonly apiKey: ApiKey;
  readonly isOwn: boolean;
  readonly onRevoke: () => void;
}

const Expiry = ({ at }: { readonly at: string | null }) => {
  if (at === null) return <Text c="dimmed">never</Text>;
  const isOver = new Date(at).getTime() <= Date.now();
  return (
    <>
      {isOver && <StatusBadge tone="bad">expired</StatusBadge>} <Time at={at} />
    </>
  );
};

const KeyRow = ({ apiKey, isOwn, onRevoke }: KeyRowProps) => {
  const { id, name, role, createdAt, lastUsedAt, expiresAt, origins, user, writesDirectly } =
    apiKey;
  const { maxFlips } = apiKey;
  return (
    <Table.Tr>
      <Table.Th scope="row" className="key-name">
        {name} {isOwn && <StatusBadge tone="good">you</StatusBadge>}
        {user && (
          <Text size="xs" c="dimmed">
            personal key of {user.name}
          </Text>
        )}
      </Table.Th>
      <Table.Td className="key-role">
        {role}
        <Text size="xs" c="dimmed">
          {roles.find((each) => each.role === role)?.permissions}
        </Text>
        {writesDirectly === true && (
          <Text size="xs" c="dimmed">
            writes directly, without an approval
          </Text>
        )}
        {maxFlips !== undefined && (
          <Text size="xs" c="dimmed">
            limit on flips: {formatPercent(maxFlips)}
          </Text>
        )}
        {origins !== null && (
          <Text size="xs" c="dimmed">
            only in pages of {origins.join(", ")}
          </Text>
        )}
      </Table.Td>
      <Table.Td className="key-id mono dimmed">{id}</Table.Td>
      <Table.Td className="key-created">
        <Time at={createdAt} />
      </Table.Td>
      <Table.Td className="key-used">
        {lastUsedAt === null ? <Text c="dimmed">never</Text> : <Time at={lastUsedAt} />}
      </Table.Td>
      <Table.Td className="key-expires">
        <Expiry at={expiresAt} />
      </Table.Td>
      <Table.Td className="key-action" ta="right">
        <Button
          size="compact-sm"
          variant="default"
          onClick={onRevoke}
          aria-label={`Revoke key ${name}`}
        >
          Revoke
        </Button>
      </Table.Td>
    </Table.Tr>
  );
};

const LastAdmin = ({ onCreate }: { readonly onCreate: () => void }) => (
  <Alert
    color="red"
    variant="light"
    icon={<Icon name="warning" />}
    title="This is the last admin key"
    role="alert"
    mb="lg"
  >
    <Text size="sm">
      Without it nobody could change this environment, so you cannot revoke it. Create another admin
      key, sign in with it, then revoke this one.
    </Text>
    <Button mt="sm" size="xs" variant="default" onClick={onCreate}>
      Create key
    </Button>
  </Alert>
);

const Keys = () => {
  const { management, environment } = useApi();
  const queries = useQueryClient();
  const revoke = useRevokeKey();
  const [creating, setCreating] = useCreating();
  const [isLast, setIsLast] = useState(false);
  const query = useQuery({
    queryKey: [environment.name, "keys"],
    queryFn: async () => valueOrThrow(await management.keys.list()),
    refetchInterval: refetchEvery,
  });
  const refetch = () => void queries.invalidateQueries({ queryKey: [environment.name, "keys"] });
  const keys = query.data;
  const revokeOne = async (key: ApiKey) => {
    const outcome = await revoke(key);
    setIsLast(outcome === "last");
    refetch();
  };
  return (
    <>
      <PageTitle
        title="Keys"
        description={
          keys === undefined ? "…" : `${formatNumber(keys.length)} in ${environment.name}`
        }
      >
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
          Create key
        </Button>
      </PageTitle>
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={3} />}
      {isLast && (
        <LastAdmin
          onCreate={() => {
            setIsLast(false);
            setCreating(true);
          }}
        />
      )}
      {keys !== undefined && (
        <Table className="keys-table" aria-label="Keys" verticalSpacing="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Name</Table.Th>
              <Table.Th scope="col">Role</Table.Th>
              <Table.Th scope="col">ID</Table.Th>
              <Table.Th scope="col">Created</Table.Th>
              <Table.Th scope="col">Last used</Table.Th>
              <Table.Th scope="col">Expires</Table.Th>
              <Table.Th scope="col">
                <span className="visually-hidden">Revoke</span>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {keys.map((key) => (
              <KeyRow
                key={key.id}
                apiKey={key}
                isOwn={key.id === environment.keyId}
                onRevoke={() => void revokeOne(key)}
              />
            ))}
          </Table.Tbody>
        </Table>
      )}
      <CreateKey opened={creating} onClose={() => setCreating(false)} onCreated={refetch} />
    </>
  );
};

export const KeysPage = () => (
  <Permitted title="Keys" what="API keys" needs="keys.read" who="admin">
    <Keys />
  </Permitted>
);
