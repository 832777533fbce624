// The dialog that creates an environment, empty or as a copy for a while, and then shows its first admin key once.
import type { CreatedEnvironment, Environment } from "@halyard/sdk/management";
import { Button, Checkbox, Group, Modal, NativeSelect, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError } from "../api.ts";
import { SecretOnce } from "../components/display/secret-once.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { useApi } from "../session.tsx";
import { maxLabelLength, useEnvironmentsChanged } from "./environment-queries.ts";

const lifetimes = [
  { value: "", label: "Never" },
  { value: "1d", label: "In 1 day" },
  { value: "7d", label: "In 7 days" },
  { value: "14d", label: "In 14 days" },
  { value: "30d", label: "In 30 days" },
  { value: "90d", label: "In 90 days" },
];

interface FormProps {
  readonly environments: readonly Environment[];
  readonly onClose: () => void;
  readonly onCreated: (environment: CreatedEnvironment) => void;
}

const CreateForm = ({ environments, onClose, onCreated }: FormProps) => {
  const { management } = useApi();
  const changed = useEnvironmentsChanged();
  const [name, setName] = useState("");
  const [label, setLabel] = useState("");
  const [copyOf, setCopyOf] = useState("");
  const [expiresIn, setExpiresIn] = useState("");
  const [isProtected, setProtected] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const isTaken = environments.some((each) => each.name === name);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (name === "" || isTaken) return;
    setBusy(true);
    const result = await management.environments.create({
      name,
      protected: isProtected,
      ...(label.trim() !== "" && { label: label.trim() }),
      ...(copyOf !== "" && { copyOf }),
      ...(expiresIn !== "" && { expiresIn }),
    });
    setBusy(false);
    if (!result.ok) return setError(new ApiError(result.error));
    onCreated(result.value);
    await changed();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="md">
        <TextInput
          label="Name"
          description="In addresses, files and events. It cannot be changed later."
          placeholder="staging"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={isTaken && "There is an environment with this name."}
          autoComplete="off"
          spellCheck={false}
          required
          data-autofocus
        />
        <TextInput
          label="Label"
          description="What people call it, if that is not its name."
          value={label}
          onChange={(event) => setLabel(event.currentTarget.value)}
          maxLength={maxLabelLength}
          autoComplete="off"
        />
        <NativeSelect
          label="Begin with"
          description="A copy has the flags and segments as they are now, without keys, webhooks and history."
          data={[
            { value: "", label: "nothing" },
            ...environments.map((each) => ({ value: each.name, label: `a copy of ${each.name}` })),
          ]}
          value={copyOf}
          onChange={(event) => setCopyOf(event.currentTarget.value)}
        />
        <NativeSelect
          label="Expires"
          description="Then it is deleted with everything in it, such as the preview of a pull request."
          data={lifetimes}
          value={expiresIn}
          onChange={(event) => setExpiresIn(event.currentTarget.value)}
        />
        <Checkbox
          label="Protected: changes need the approval of a second person"
          checked={isProtected}
          onChange={(event) => setProtected(event.currentTarget.checked)}
        />
        {error !== undefined && (
          <ErrorMessage error={error} title="The environment was not created" />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={busy} disabled={name === "" || isTaken}>
            Create environment
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

interface CreateEnvironmentProps {
  readonly environments: readonly Environment[];
  readonly opened: boolean;
  readonly onClose: () => void;
}

export const CreateEnvironment = ({ environments, opened, onClose }: CreateEnvironmentProps) => {
  const [created, setCreated] = useState<CreatedEnvironment | undefined>();
  const close = () => {
    setCreated(undefined);
    onClose();
  };
  const isForm = created === undefined;
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={isForm ? "Create environment" : `Environment ${created.name} is created`}
      size="lg"
      // Only the button that says so discards the key.
      closeOnClickOutside={isForm}
      closeOnEscape={isForm}
      withCloseButton={isForm}
    >
      {isForm ? (
        <CreateForm environments={environments} onClose={close} onCreated={setCreated} />
      ) : (
        <Stack gap="lg">
          <SecretOnce
            what="key"
            text={created.key.key}
            advice="It is the first admin key of the environment. Programs use it; you create others on the page Keys of the environment."
          />
          <Group justify="flex-end">
            <Button onClick={close}>I saved the key</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
};
