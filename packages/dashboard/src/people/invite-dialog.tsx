// Invites somebody: who, and what they may do; then the link to give them.
import type { Invitation } from "@halyard/sdk/management";
import { Button, Group, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError } from "../api.ts";
import { Dialog } from "../components/feedback/dialog.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { useApi } from "../session.tsx";
import { ShownLink } from "./invitation-link.tsx";
import { type Rights, RoleInputs } from "./role-inputs.tsx";

interface Invited {
  readonly name: string;
  readonly link: Invitation;
}

interface FormProps {
  readonly onClose: () => void;
  readonly onInvited: (invited: Invited) => void;
}

const InviteForm = ({ onClose, onInvited }: FormProps) => {
  const { environment, management } = useApi();
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [rights, setRights] = useState<Rights>({
    owner: false,
    roles: { [environment.name]: "viewer" },
  });
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const result = await management.users.invite({
      name: name.trim(),
      email: email.trim(),
      ...(rights.owner ? { owner: true } : { roles: rights.roles }),
    });
    setBusy(false);
    if (result.ok) onInvited({ name: result.value.name, link: result.value.invitation });
    else setError(new ApiError(result.error));
  };
  return (
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
          description="What they sign in with"
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          autoComplete="off"
          required
        />
        <RoleInputs value={rights} onChange={setRights} />
        {error !== undefined && <ErrorMessage error={error} title="Nobody was invited" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={busy}>
            Invite
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

interface InviteDialogProps {
  readonly onClose: () => void;
  readonly onInvited: () => void;
}

export const InviteDialog = ({ onClose, onInvited }: InviteDialogProps) => {
  const [invited, setInvited] = useState<Invited | undefined>();
  return (
    <Dialog
      onClose={onClose}
      title={invited === undefined ? "Invite a person" : `Invitation for ${invited.name}`}
      size="lg"
      // Only the button that says so discards the link.
      closeOnClickOutside={invited === undefined}
      closeOnEscape={invited === undefined}
      withCloseButton={invited === undefined}
    >
      {invited === undefined ? (
        <InviteForm
          onClose={onClose}
          onInvited={(next) => {
            setInvited(next);
            onInvited();
          }}
        />
      ) : (
        <ShownLink name={invited.name} link={invited.link} onDone={onClose} />
      )}
    </Dialog>
  );
};
