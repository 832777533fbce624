// The dialog that creates a webhook and then shows its secret once.
import type { CreatedWebhook } from "@halyard/sdk/management";
import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError } from "../api.ts";
import { SecretOnce } from "../components/display/secret-once.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { useApi } from "../session.tsx";
import { CloudEventsChoice, type EventChoice, EventsPicker } from "./events-picker.tsx";
import { ReceiverSnippets } from "./receiver-snippets.tsx";
import { useRefetchWebhooks } from "./webhook-queries.ts";

interface FormProps {
  readonly onClose: () => void;
  readonly onCreated: (webhook: CreatedWebhook) => void;
}

const urlErrorOf = (url: string): string | undefined => {
  if (url === "") return undefined;
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    return "Enter a full URL, such as https://example.com/hooks/flags";
  }
  if (parsed.username !== "" || parsed.password !== "")
    return "The URL must not contain a user name or password.";
  return parsed.hash === "" ? undefined : "The URL must not contain a fragment (#…).";
};

const CreateForm = ({ onClose, onCreated }: FormProps) => {
  const { management } = useApi();
  const refetch = useRefetchWebhooks();
  const [url, setUrl] = useState("");
  const [events, setEvents] = useState<readonly EventChoice[]>(["*"]);
  const [cloudEvents, setCloudEvents] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const urlError = urlErrorOf(url);
  const isReady = url !== "" && urlError === undefined && events.length > 0;

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isReady) return;
    setBusy(true);
    const result = await management.webhooks.create({
      url,
      events,
      ...(cloudEvents && { cloudEvents }),
    });
    setBusy(false);
    if (!result.ok) {
      setError(new ApiError(result.error));
      return;
    }
    refetch();
    onCreated(result.value);
  };

  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="md">
        <TextInput
          label="URL"
          description="Halyard sends events to this URL. It cannot be changed later."
          placeholder="https://example.com/hooks/flags"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value.trim())}
          error={urlError}
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          required
          data-autofocus
        />
        <EventsPicker value={events} onChange={setEvents} />
        <CloudEventsChoice value={cloudEvents} onChange={setCloudEvents} />
        {error !== undefined && <ErrorMessage error={error} title="The webhook was not created" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={busy} disabled={!isReady}>
            Create webhook
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

interface CreatedProps {
  readonly webhook: CreatedWebhook;
  readonly onClose: () => void;
}

const Created = ({ webhook, onClose }: CreatedProps) => (
  <Stack gap="lg">
    <SecretOnce
      what="secret"
      text={webhook.secret}
      advice="Set it as HALYARD_WEBHOOK_SECRET in your receiver, which uses it to verify that requests come from Halyard."
    />
    <ReceiverSnippets />
    <Group justify="flex-end">
      <Button onClick={onClose}>I saved the secret</Button>
    </Group>
  </Stack>
);

interface CreateWebhookProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** After its secret was shown. */
  readonly onDone: (id: string) => void;
}

export const CreateWebhook = ({ opened, onClose, onDone }: CreateWebhookProps) => {
  const [created, setCreated] = useState<CreatedWebhook | undefined>();
  const close = () => {
    if (created !== undefined) onDone(created.id);
    else onClose();
    setCreated(undefined);
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={created === undefined ? "Create webhook" : "Webhook created"}
      size="xl"
      // Only the button that says so discards the secret.
      closeOnClickOutside={created === undefined}
      closeOnEscape={created === undefined}
      withCloseButton={created === undefined}
    >
      {created === undefined ? (
        <CreateForm onClose={onClose} onCreated={setCreated} />
      ) : (
        <Created webhook={created} onClose={close} />
      )}
    </Modal>
  );
};
