// What a person may do: everything as an owner, or a role in each environment.
import type { PersonRole } from "@halyard/sdk/management";
import { Checkbox, NativeSelect, Stack, Text } from "@mantine/core";
import { useEnvironments } from "../environments/environment-queries.ts";
import { useSession } from "../session.tsx";

const personRoles: readonly PersonRole[] = ["viewer", "editor", "admin"];

/** By the name of the environment. */
export type PersonRoles = Readonly<Record<string, PersonRole>>;

export interface Rights {
  readonly owner: boolean;
  readonly roles: PersonRoles;
}

const meanings: Readonly<Record<PersonRole, string>> = {
  viewer: "sees everything but secrets",
  editor: "changes flags and segments",
  admin: "changes webhooks and keys too",
};

interface RoleInputsProps {
  readonly value: Rights;
  readonly onChange: (rights: Rights) => void;
}

/** All that there are; until they are known those of the session. And those where the person has a role already. */
const useEnvironmentNames = (roles: PersonRoles): readonly string[] => {
  const { session } = useSession();
  const all = useEnvironments().data ?? session?.environments ?? [];
  return [...new Set([...all.map(({ name }) => name), ...Object.keys(roles)])].sort();
};

export const RoleInputs = ({ value, onChange }: RoleInputsProps) => {
  const { owner, roles } = value;
  const names = useEnvironmentNames(roles);
  const setRole = (name: string, text: string) => {
    const { [name]: _, ...others } = roles;
    const role = personRoles.find((each) => each === text);
    onChange({ owner, roles: role === undefined ? others : { ...others, [name]: role } });
  };
  return (
    <Stack gap="sm">
      <Checkbox
        label="Owner"
        description="Manages people and environments, and is an admin of every environment"
        checked={owner}
        onChange={(event) => onChange({ ...value, owner: event.currentTarget.checked })}
      />
      {!owner && (
        <fieldset className="role-inputs">
          <legend>Roles</legend>
          <Text size="xs" className="dimmed">
            {personRoles.map((role) => `${role} ${meanings[role]}`).join("; ")}
          </Text>
          {names.map((name) => (
            <NativeSelect
              key={name}
              className="role-input"
              label={name}
              size="sm"
              data={[
                { value: "", label: "no role" },
                ...personRoles.map((role) => ({ value: role, label: role })),
              ]}
              value={roles[name] ?? ""}
              onChange={(event) => setRole(name, event.currentTarget.value)}
            />
          ))}
        </fieldset>
      )}
    </Stack>
  );
};
