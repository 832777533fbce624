// The people of this Halyard, for owners: who may do what where; invite, change, remove.
import type { Invitation, User } from "@halyard/sdk/management";
import { Button, Table, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { valueOrThrow } from "../../api.ts";
import { Icon } from "../../components/display/icon.tsx";
import { useConfirm } from "../../components/feedback/confirm.tsx";
import { Dialog } from "../../components/feedback/dialog.tsx";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../../components/feedback/error-message.tsx";
import { notifyDone, notifyError } from "../../components/feedback/notify.tsx";
import { RowsSkeleton } from "../../components/feedback/skeletons.tsx";
import { PageTitle } from "../../components/layout/page-title.tsx";
import { Permitted } from "../../components/layout/permitted.tsx";
import { useCreating } from "../../components/layout/use-creating.ts";
import { formatNumber } from "../../format.ts";
import { EditPerson } from "../../people/edit-person.tsx";
import { ShownLink } from "../../people/invitation-link.tsx";
import { InviteDialog } from "../../people/invite-dialog.tsx";
import { LinkAccounts } from "../../people/link-accounts.tsx";
import { PersonRow } from "../../people/person-row.tsx";
import { useApi, useSession } from "../../session.tsx";
import "../../styles/pages/people.css";

const queryKey = ["people"];
const refetchEvery = 10_000;
/** Rows that are shown at first, and with each "Show more". */
const pageSize = 100;

const isFound =
  (search: string) =>
  ({ name, email, owner, roles }: User): boolean =>
    [
      name,
      email ?? "",
      owner ? "owner" : "",
      ...Object.entries(roles).map((each) => each.join(" ")),
    ]
      .join("\n")
      .toLowerCase()
      .includes(search);

interface PeopleTableProps {
  readonly found: readonly User[];
  readonly people: readonly User[];
  readonly onEdit: (person: User) => void;
  readonly onNewLink: (person: User) => void;
  readonly onLink: (person: User) => void;
  readonly onUnlink: (person: User) => void;
  readonly onRemove: (person: User) => void;
}

const PeopleTable = ({ found, people, ...actions }: PeopleTableProps) => {
  const { session } = useSession();
  const [limit, setLimit] = useState(pageSize);
  return (
    <>
      <Table className="people-table" aria-label="People" verticalSpacing="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Name</Table.Th>
            <Table.Th scope="col">Roles</Table.Th>
            <Table.Th scope="col">Last sign-in</Table.Th>
            <Table.Th scope="col">
              <span className="visually-hidden">Actions</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {found.slice(0, limit).map((person) => (
            <PersonRow
              key={person.id}
              person={person}
              people={people}
              isSelf={person.id === session?.user?.id}
              {...actions}
            />
          ))}
        </Table.Tbody>
      </Table>
      {found.length > limit && (
        <Button variant="default" mt="md" onClick={() => setLimit(limit + pageSize)}>
          Show more ({formatNumber(found.length - limit)} not shown)
        </Button>
      )}
    </>
  );
};

/** What a dialog is about. */
type Opened =
  | { readonly kind: "edit" | "accounts"; readonly person: User }
  | { readonly kind: "link"; readonly person: User; readonly link: Invitation };

const usePeople = () => {
  const { management } = useApi();
  const queries = useQueryClient();
  const ask = useConfirm();
  const [opened, setOpened] = useState<Opened | undefined>();
  const query = useQuery({
    queryKey,
    queryFn: async () => valueOrThrow(await management.users.list()),
    refetchInterval: refetchEvery,
  });
  const refetch = () => void queries.invalidateQueries({ queryKey });
  const remove = async ({ id, name }: User) => {
    const isSure = await ask({
      title: `Remove ${name}?`,
      body: `${name} is signed out everywhere within a second, and their personal keys stop working: programs that use them are refused. What they changed stays, and the history goes on naming them. This cannot be undone; you can invite them again.`,
      confirmLabel: "Remove",
      danger: true,
    });
    if (!isSure) return;
    const result = await management.users.remove(id);
    if (result.ok) notifyDone({ title: name, message: "Removed." });
    else notifyError(`${name} was not removed`, result.error);
    refetch();
  };
  const unlink = async ({ id, name }: User) => {
    const result = await management.users.unlink(id);
    if (result.ok) notifyDone({ title: name, message: "Account unlinked." });
    else notifyError(`Couldn’t unlink ${name}`, result.error);
    refetch();
  };
  const makeLink = async (person: User) => {
    const isSure = await ask({
      title: `New link for ${person.name}?`,
      body:
        person.state === "invited"
          ? "The link that they have now stops working."
          : "With the link they choose a new password and sign in, for example after losing the old one. Until they use it nothing changes.",
      confirmLabel: "Make a link",
    });
    if (!isSure) return;
    const result = await management.users.newInvitation(person.id);
    if (result.ok) setOpened({ kind: "link", person, link: result.value });
    else notifyError(`There is no new link for ${person.name}`, result.error);
  };
  return { query, refetch, remove, makeLink, unlink, opened, setOpened };
};

const People = () => {
  const { query, refetch, remove, makeLink, unlink, opened, setOpened } = usePeople();
  const [inviting, setInviting] = useCreating();
  const [search, setSearch] = useState("");
  const sought = useDeferredValue(search.trim().toLowerCase());
  const people = query.data;
  const found = people?.filter(isFound(sought)) ?? [];
  const invite = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setInviting(true)}>
      Invite
    </Button>
  );
  return (
    <>
      <PageTitle
        title="People"
        description={
          people === undefined
            ? "…"
            : `${formatNumber(people.length)} with an account or an invitation`
        }
      >
        {people?.length !== 0 && invite}
      </PageTitle>
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={4} />}
      {people?.length === 0 && (
        <EmptyState title="Nobody has an account yet" action={invite}>
          With accounts, history says who changed what, and everybody has a role in each
          environment. Invite yourself first, as an owner.
        </EmptyState>
      )}
      {people !== undefined && people.length > 0 && (
        <>
          <TextInput
            className="people-search"
            type="search"
            aria-label="Search people"
            placeholder="Name, e-mail address, role or environment"
            leftSection={<Icon name="search" size={16} />}
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
          />
          <p className="visually-hidden" role="status">
            {formatNumber(found.length)} found
          </p>
          {found.length === 0 ? (
            <EmptyState title="Nobody matches">Nobody matches “{search}”.</EmptyState>
          ) : (
            <PeopleTable
              key={sought}
              found={found}
              people={people}
              onEdit={(person) => setOpened({ kind: "edit", person })}
              onNewLink={(person) => void makeLink(person)}
              onLink={(person) => setOpened({ kind: "accounts", person })}
              onUnlink={(person) => void unlink(person)}
              onRemove={(person) => void remove(person)}
            />
          )}
        </>
      )}
      {inviting && <InviteDialog onClose={() => setInviting(false)} onInvited={refetch} />}
      {opened?.kind === "edit" && (
        <EditPerson
          key={opened.person.id}
          person={opened.person}
          onClose={() => setOpened(undefined)}
          onSaved={refetch}
        />
      )}
      {opened?.kind === "accounts" && people !== undefined && (
        <LinkAccounts
          key={opened.person.id}
          person={opened.person}
          people={people}
          onClose={() => setOpened(undefined)}
          onLinked={refetch}
        />
      )}
      {opened?.kind === "link" && (
        <Dialog
          title={`Invitation for ${opened.person.name}`}
          size="lg"
          onClose={() => setOpened(undefined)}
          closeOnClickOutside={false}
          closeOnEscape={false}
          withCloseButton={false}
        >
          <ShownLink
            name={opened.person.name}
            link={opened.link}
            onDone={() => setOpened(undefined)}
          />
        </Dialog>
      )}
    </>
  );
};

export const PeoplePage = () => (
  <Permitted title="People" what="people" needs="users.read" who="owner">
    <People />
  </Permitted>
);
