// The dialog that registers a webhook and then shows its secret, this once.
import type { CreatedWebhook } from "@halyard/sdk";
import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError } from "../api.ts";
import { SecretOnce } from "../components/display/secret-once.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { useApi } from "../session.tsx";
import { type EventChoice, EventsPicker } from "./events-picker.tsx";
import { ReceiverSnippets } from "./receiver-snippets.tsx";
import { useReadWebhooksAgain } from "./webhook-queries.ts";

interface FormProps {
  readonly onClose: () => void;
  readonly onCreated: (webhook: CreatedWebhook) => void;
}

const complaintAbout = (url: string): string | undefined => {
  if (url === "") return undefined;
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    return "A whole address, such as https://example.com/hooks/flags";
  }
  if (parsed.username !== "" || parsed.password !== "") return "No user and password in it.";
  return parsed.hash === "" ? undefined : "No fragment (#…) in it.";
};

const CreateForm = ({ onClose, onCreated }: FormProps) => {
  const { management } = useApi();
  const readAgain = useReadWebhooksAgain();
  const [url, setUrl] = useState("");
  const [events, setEvents] = useState<readonly EventChoice[]>(["*"]);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const complaint = complaintAbout(url);
  const isReady = url !== "" && complaint === undefined && events.length > 0;

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isReady) return;
    setBusy(true);
    const result = await management.webhooks.create({ url, events });
    setBusy(false);
    if (!result.ok) {
      setError(new ApiError(result.error));
      return;
    }
    readAgain();
    onCreated(result.value);
  };

  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="md">
        <TextInput
          label="Address"
          description="Halyard posts every event to it. It cannot be changed later."
          placeholder="https://example.com/hooks/flags"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value.trim())}
          error={complaint}
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          required
          data-autofocus
        />
        <EventsPicker value={events} onChange={setEvents} />
        {error !== undefined && (
          <ErrorMessage error={error} title="The webhook was not registered" />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={busy} disabled={!isReady}>
            Register it
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
      what="the secret"
      text={webhook.secret}
      advice="Put it where your receiver finds it, in HALYARD_WEBHOOK_SECRET: with it the receiver knows that a request is from here."
    />
    <ReceiverSnippets />
    <Group justify="flex-end">
      <Button onClick={onClose}>I have the secret: to the webhook</Button>
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
  const [made, setMade] = useState<CreatedWebhook | undefined>();
  const close = () => {
    if (made !== undefined) onDone(made.id);
    else onClose();
    setMade(undefined);
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={made === undefined ? "Register a webhook" : "The webhook is registered"}
      size="xl"
      // A click beside it must not take the secret away.
      closeOnClickOutside={made === undefined}
    >
      {made === undefined ? (
        <CreateForm onClose={onClose} onCreated={setMade} />
      ) : (
        <Created webhook={made} onClose={close} />
      )}
    </Modal>
  );
};
