// The dialog that edits the events of a webhook.
import type { Webhook } from "@halyard/sdk";
import { Button, Group, Modal, Stack } from "@mantine/core";
import { useState } from "react";
import { ApiError } from "../api.ts";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { choicesOf, EventsPicker } from "./events-picker.tsx";
import { useWebhookEdits } from "./webhook-edits.ts";

interface EditEventsProps {
  readonly webhook: Webhook;
  readonly opened: boolean;
  readonly onClose: () => void;
}

const EditEventsForm = ({ webhook, onClose }: Omit<EditEventsProps, "opened">) => {
  const edits = useWebhookEdits();
  const [events, setEvents] = useState(() => choicesOf(webhook.events));
  const [error, setError] = useState<ApiError | undefined>();
  const save = async () => {
    const failure = await edits.setEvents(webhook, events);
    if (failure === undefined) onClose();
    else setError(new ApiError(failure));
  };
  return (
    <Stack gap="md">
      <EventsPicker value={events} onChange={setEvents} />
      {error !== undefined && <ErrorMessage error={error} title="The events were not changed" />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button onClick={() => void save()} disabled={events.length === 0}>
          Save
        </Button>
      </Group>
    </Stack>
  );
};

export const EditEvents = ({ webhook, opened, onClose }: EditEventsProps) => (
  <Modal opened={opened} onClose={onClose} title="Edit events" size="lg">
    <EditEventsForm webhook={webhook} onClose={onClose} />
  </Modal>
);
