// Changes the name, the e-mail address and the rights of a person.
import type { User, UserPatch } from "@halyard/sdk/management";
import { Button, Group, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError } from "../api.ts";
import { Dialog } from "../components/feedback/dialog.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { notifyDone } from "../components/feedback/notify.tsx";
import { useApi } from "../session.tsx";
import { type PersonRoles, type Rights, RoleInputs } from "./role-inputs.tsx";

/** Only what differs: what somebody else changes at the same time stays. */
const rolesPatch = (before: PersonRoles, after: PersonRoles): UserPatch => {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => before[name] !== after[name]);
  if (changed.length === 0) return {};
  return { roles: Object.fromEntries(changed.map((name) => [name, after[name] ?? null])) };
};

interface EditPersonProps {
  readonly person: User;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export const EditPerson = ({ person, onClose, onSaved }: EditPersonProps) => {
  const { management } = useApi();
  const [name, setName] = useState(person.name);
  const [email, setEmail] = useState(person.email ?? "");
  const [rights, setRights] = useState<Rights>({ owner: person.owner, roles: person.roles });
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const result = await management.users.update(person.id, {
      ...(name.trim() !== person.name && { name: name.trim() }),
      ...(email.trim() !== (person.email ?? "") && { email: email.trim() || null }),
      ...(rights.owner !== person.owner && { owner: rights.owner }),
      ...(rights.owner ? {} : rolesPatch(person.roles, rights.roles)),
    });
    setBusy(false);
    if (!result.ok) return setError(new ApiError(result.error));
    notifyDone({ title: result.value.name, message: "Saved. It holds within a second." });
    onSaved();
    onClose();
  };
  return (
    <Dialog onClose={onClose} title={`Change ${person.name}`} size="lg">
      <form onSubmit={(event) => void submit(event)}>
        <Stack gap="md">
          <TextInput
            label="Name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            maxLength={100}
            autoComplete="off"
            required
            data-autofocus
          />
          <TextInput
            type="email"
            label="E-mail address"
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            autoComplete="off"
            required={person.email !== null}
          />
          <RoleInputs value={rights} onChange={setRights} />
          {error !== undefined && <ErrorMessage error={error} title="Nothing was changed" />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={busy}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
};
