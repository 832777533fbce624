// Declares that two accounts belong to one human.
import type { User } from "@halyard/sdk/management";
import { Button, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError } from "../api.ts";
import { Dialog } from "../components/feedback/dialog.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { notifyDone } from "../components/feedback/notify.tsx";
import { useApi } from "../session.tsx";

interface LinkAccountsProps {
  readonly person: User;
  readonly people: readonly User[];
  readonly onClose: () => void;
  readonly onLinked: () => void;
}

const labelOf = ({ name, email, id }: User): string => `${name} (${email ?? id})`;

export const LinkAccounts = ({ person, people, onClose, onLinked }: LinkAccountsProps) => {
  const { management } = useApi();
  const others = people.filter(({ id }) => id !== person.id && !person.linked.includes(id));
  const [account, setAccount] = useState(
    others.find(({ id }) => person.sameAddress.includes(id))?.id ?? "",
  );
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const result = await management.users.link(person.id, account);
    setBusy(false);
    if (!result.ok) return setError(new ApiError(result.error));
    notifyDone({ title: person.name, message: "Accounts linked." });
    onLinked();
    onClose();
  };
  return (
    <Dialog onClose={onClose} title={`Link an account with ${person.name}`}>
      <form onSubmit={(event) => void submit(event)}>
        <Stack gap="md">
          <Text size="sm">
            Link two accounts that belong to the same human. Neither account can approve what the
            other proposes. From the next sign-in on, both get the roles of their groups.
          </Text>
          <NativeSelect
            label="Other account"
            data={[
              { value: "", label: "Select an account" },
              ...others.map((each) => ({ value: each.id, label: labelOf(each) })),
            ]}
            value={account}
            onChange={(event) => setAccount(event.currentTarget.value)}
            required
            data-autofocus
          />
          {error !== undefined && <ErrorMessage error={error} title="Couldn’t link the accounts" />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={busy} disabled={account === ""}>
              Link accounts
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
};
