// The dialog that creates an API key and then shows it once.
import type { CreatedApiKey, Role } from "@halyard/sdk";
import { Button, Group, Modal, Radio, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError } from "../api.ts";
import { SecretOnce } from "../components/display/secret-once.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { useApi } from "../session.tsx";
import { roles } from "./roles.ts";

const maxNameLength = 100;

interface FormProps {
  readonly onClose: () => void;
  readonly onCreated: (key: CreatedApiKey) => void;
}

const CreateForm = ({ onClose, onCreated }: FormProps) => {
  const { management, environment } = useApi();
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("server");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "") return;
    setBusy(true);
    const result = await management.keys.create({ name: name.trim(), role });
    setBusy(false);
    if (result.ok) onCreated(result.value);
    else setError(new ApiError(result.error));
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="md">
        <TextInput
          label="Name"
          description="Who or what uses the key. Shown in history and events."
          placeholder="checkout service"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={maxNameLength}
          autoComplete="off"
          required
          data-autofocus
        />
        <Radio.Group
          label="Role"
          description={`What the key may do in ${environment.name}. Other environments need their own keys.`}
          value={role}
          onChange={(value) => setRole(roles.find((each) => each.role === value)?.role ?? "server")}
        >
          <Stack gap="sm" mt="xs">
            {roles.map(({ role: each, permissions, usage }) => (
              <Radio
                key={each}
                value={each}
                label={`${each}: ${permissions}`}
                description={usage}
              />
            ))}
          </Stack>
        </Radio.Group>
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

interface CreateKeyProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onCreated: () => void;
}

export const CreateKey = ({ opened, onClose, onCreated }: CreateKeyProps) => {
  const [created, setCreated] = useState<CreatedApiKey | undefined>();
  const close = () => {
    setCreated(undefined);
    onClose();
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={created === undefined ? "Create key" : `Key ${created.name}`}
      size="lg"
      // A click outside must not discard the key.
      closeOnClickOutside={created === undefined}
    >
      {created === undefined ? (
        <CreateForm
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
            advice="Store it in the configuration of your program or in a password manager. If you lose it, revoke it and create another."
          />
          <Group justify="flex-end">
            <Button onClick={close}>I saved the key</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
};
