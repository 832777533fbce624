// One person of the list: who they are, what they may do where, and what can be done about it.
import type { User } from "@halyard/sdk/management";
import { ActionIcon, Button, Menu, Table, Text } from "@mantine/core";
import { Icon } from "../components/display/icon.tsx";
import { StatusBadge } from "../components/display/status-badge.tsx";
import { Time } from "../components/display/time.tsx";

interface PersonRowProps {
  readonly person: User;
  /** To name the accounts that belong to the same human. */
  readonly people: readonly User[];
  readonly isSelf: boolean;
  readonly onEdit: (person: User) => void;
  readonly onNewLink: (person: User) => void;
  readonly onLink: (person: User) => void;
  readonly onUnlink: (person: User) => void;
  readonly onRemove: (person: User) => void;
}

/** The others are in the dialog that changes them. */
const mostRoles = 8;

const Rights = ({ person: { owner, roles } }: { readonly person: User }) => {
  if (owner) return <strong>owner</strong>;
  const entries = Object.entries(roles).sort(([one], [other]) => (one < other ? -1 : 1));
  if (entries.length === 0) return <span className="dimmed">no role</span>;
  const shown = entries.slice(0, mostRoles);
  return (
    <ul className="person-roles">
      {shown.map(([name, role]) => (
        <li key={name}>
          <span className="dimmed">{name}</span> {role}
        </li>
      ))}
      {entries.length > shown.length && (
        <li className="dimmed">and {entries.length - shown.length} more</li>
      )}
    </ul>
  );
};

const waysOf = ({ hasPassword, hasSecondFactor, providers }: User): string =>
  [
    ...(hasPassword ? [hasSecondFactor ? "password and second factor" : "password"] : []),
    ...providers.map((issuer) => URL.parse(issuer)?.host ?? issuer),
  ].join(", ");

/** What is known of the other accounts of the same human. */
const OtherAccounts = ({ person, people }: Pick<PersonRowProps, "person" | "people">) => {
  const { linked, sameAddress } = person;
  const unlinked = sameAddress.filter((id) => !linked.includes(id));
  const namesOf = (ids: readonly string[]): string =>
    ids.map((id) => people.find((each) => each.id === id)?.name ?? id).join(", ");
  return (
    <>
      {linked.length > 0 && (
        <Text size="xs" c="dimmed">
          Linked with {namesOf(linked)}
        </Text>
      )}
      {unlinked.length > 0 && (
        <Text size="xs">Same e-mail address as {namesOf(unlinked)}. Link or remove one.</Text>
      )}
    </>
  );
};

export const PersonRow = ({
  person,
  people,
  isSelf,
  onEdit,
  onNewLink,
  onLink,
  onUnlink,
  onRemove,
}: PersonRowProps) => {
  const { name, email, state, signedInAt, linked } = person;
  return (
    <Table.Tr>
      <Table.Th scope="row" className="person-name">
        {name} {isSelf && <StatusBadge tone="good">you</StatusBadge>}{" "}
        {state === "invited" && <StatusBadge tone="waiting">invited</StatusBadge>}
        <Text size="xs" c="dimmed">
          {email}
        </Text>
        <OtherAccounts person={person} people={people} />
      </Table.Th>
      <Table.Td className="person-rights">
        <Rights person={person} />
      </Table.Td>
      <Table.Td className="person-signed-in">
        {signedInAt === null ? <span className="dimmed">never</span> : <Time at={signedInAt} />}
        <Text size="xs" c="dimmed">
          {waysOf(person)}
        </Text>
      </Table.Td>
      <Table.Td className="person-actions" ta="right">
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => onEdit(person)}
          aria-label={`Change ${name}`}
        >
          Change
        </Button>
        <Menu position="bottom-end" withinPortal>
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" aria-label={`More for ${name}`}>
              <Icon name="more" />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item
              leftSection={<Icon name="rotate" size={16} />}
              onClick={() => onNewLink(person)}
            >
              New invitation link
            </Menu.Item>
            {people.length > 1 && (
              <Menu.Item
                leftSection={<Icon name="plus" size={16} />}
                onClick={() => onLink(person)}
              >
                Link an account
              </Menu.Item>
            )}
            {linked.length > 0 && (
              <Menu.Item
                leftSection={<Icon name="cross" size={16} />}
                onClick={() => onUnlink(person)}
              >
                Unlink account
              </Menu.Item>
            )}
            <Menu.Item
              leftSection={<Icon name="trash" size={16} />}
              onClick={() => onRemove(person)}
            >
              Remove
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Table.Td>
    </Table.Tr>
  );
};
