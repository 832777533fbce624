// One person of the list: who they are, what they may do where, and what can be done about it.
import type { User } from "@halyard/sdk";
import { ActionIcon, Button, Menu, Table, Text } from "@mantine/core";
import { Icon } from "../components/display/icon.tsx";
import { StatusBadge } from "../components/display/status-badge.tsx";
import { Time } from "../components/display/time.tsx";

interface PersonRowProps {
  readonly person: User;
  readonly isSelf: boolean;
  readonly onEdit: (person: User) => void;
  readonly onNewLink: (person: User) => void;
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

export const PersonRow = ({ person, isSelf, onEdit, onNewLink, onRemove }: PersonRowProps) => {
  const { name, email, state, signedInAt } = person;
  return (
    <Table.Tr>
      <Table.Th scope="row" className="person-name">
        {name} {isSelf && <StatusBadge tone="good">you</StatusBadge>}{" "}
        {state === "invited" && <StatusBadge tone="waiting">invited</StatusBadge>}
        <Text size="xs" c="dimmed">
          {email}
        </Text>
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
