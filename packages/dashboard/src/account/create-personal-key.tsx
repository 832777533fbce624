// The dialog that creates a personal key and then shows it once.
import type { CreatedApiKey, NewPersonalKey } from "@halyard/sdk/management";
import { Button, Group, NativeSelect, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError } from "../api.ts";
import { SecretOnce } from "../components/display/secret-once.tsx";
import { Dialog } from "../components/feedback/dialog.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { roles } from "../keys/roles.ts";
import { useApi } from "../session.tsx";

const day = 86_400_000;
/** In days. There is none without an end. */
const expiries: Readonly<Record<string, number>> = {
  "In 7 days": 7,
  "In 30 days": 30,
  "In 90 days": 90,
  "In 1 year": 365,
};

type KeyRole = NewPersonalKey["role"];

interface CreatePersonalKeyProps {
  readonly onClose: () => void;
  readonly onCreated: () => void;
}

/** From the least to the most. */
const keyRoles: readonly KeyRole[] = ["client", "server", "editor", "admin"];

/** Of an editor, say, those up to editor. */
const rolesUpTo = (own: string): readonly KeyRole[] => {
  const most = keyRoles.find((role) => role === (own === "viewer" ? "server" : own)) ?? "admin";
  return keyRoles.slice(0, keyRoles.indexOf(most) + 1);
};

interface FormProps {
  readonly onClose: () => void;
  readonly onCreated: (key: CreatedApiKey) => void;
}

const Form = ({ onClose, onCreated }: FormProps) => {
  const { environment, management } = useApi();
  const offered = rolesUpTo(environment.role);
  const [name, setName] = useState("");
  const [role, setRole] = useState<KeyRole>(offered.at(-1) ?? "server");
  const [expiry, setExpiry] = useState("In 30 days");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const expiresAt = new Date(Date.now() + (expiries[expiry] ?? 1) * day).toISOString();
    const result = await management.personalKeys.create({ name: name.trim(), role, expiresAt });
    setBusy(false);
    if (result.ok) onCreated(result.value);
    else setError(new ApiError(result.error));
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="md">
        <TextInput
          label="Name"
          description="What uses the key. History shows it beside your name."
          placeholder="my laptop"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={100}
          autoComplete="off"
          required
          data-autofocus
        />
        <NativeSelect
          label="Role"
          description={roles.find((each) => each.role === role)?.permissions}
          data={[...offered]}
          value={role}
          onChange={(event) =>
            setRole(offered.find((each) => each === event.currentTarget.value) ?? "server")
          }
        />
        <NativeSelect
          label="Expires"
          data={Object.keys(expiries)}
          value={expiry}
          onChange={(event) => setExpiry(event.currentTarget.value)}
        />
        {error !== undefined && <ErrorMessage error={error} title="The key was not created" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={busy} disabled={name.trim() === ""}>
            Create key
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

export const CreatePersonalKey = ({ onClose, onCreated }: CreatePersonalKeyProps) => {
  const [created, setCreated] = useState<CreatedApiKey | undefined>();
  return (
    <Dialog
      onClose={onClose}
      title={created === undefined ? "Create personal key" : `Key ${created.name}`}
      size="lg"
      // Only the button that says so discards the key.
      closeOnClickOutside={created === undefined}
      closeOnEscape={created === undefined}
      withCloseButton={created === undefined}
    >
      {created === undefined ? (
        <Form
          onClose={onClose}
          onCreated={(key) => {
            setCreated(key);
            onCreated();
          }}
        />
      ) : (
        <Stack gap="lg">
          <SecretOnce
            what="key"
            text={created.key}
            advice="Store it where your program reads it. If you lose it, revoke it and create another."
          />
          <Group justify="flex-end">
            <Button onClick={onClose}>I saved the key</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
};
