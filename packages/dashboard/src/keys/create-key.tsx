// The dialog that creates an API key and then shows it, this once.
import type { CreatedApiKey, Role } from "@halyard/sdk";
import { Button, Group, Modal, Radio, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError } from "../api.ts";
import { SecretOnce } from "../components/display/secret-once.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { useApi } from "../session.tsx";
import { roleWords } from "./roles.ts";

const longestName = 100;

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
          description="Who or what uses it. History and events name it."
          placeholder="checkout service"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={longestName}
          autoComplete="off"
          required
          data-autofocus
        />
        <Radio.Group
          label="Role"
          description={`What it may do in ${environment.name}. Other environments need keys of their own.`}
          value={role}
          onChange={(value) =>
            setRole(roleWords.find((each) => each.role === value)?.role ?? "server")
          }
        >
          <Stack gap="sm" mt="xs">
            {roleWords.map(({ role: each, may, where }) => (
              <Radio key={each} value={each} label={`${each}: ${may}`} description={where} />
            ))}
          </Stack>
        </Radio.Group>
        {error !== undefined && <ErrorMessage error={error} title="The key was not created" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={busy} disabled={name.trim() === ""}>
            Create the key
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
  const [made, setMade] = useState<CreatedApiKey | undefined>();
  const close = () => {
    setMade(undefined);
    onClose();
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={made === undefined ? "Create a key" : `The key ${made.name}`}
      size="lg"
      // A click beside it must not take the key away.
      closeOnClickOutside={made === undefined}
    >
      {made === undefined ? (
        <CreateForm
          onClose={onClose}
          onCreated={(key) => {
            setMade(key);
            onCreated();
          }}
        />
      ) : (
        <Stack gap="lg">
          <SecretOnce
            what="the key"
            text={made.key}
            advice="Put it where its program finds it, or where you keep passwords. When it is lost, revoke it and create another."
          />
          <Group justify="flex-end">
            <Button onClick={close}>I have the key</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
};
