// The dialog that edits which events a webhook gets, and with which headers.
import type { Webhook } from "@halyard/sdk/management";
import { Button, Group, Modal, Stack } from "@mantine/core";
import { useState } from "react";
import { ApiError } from "../api.ts";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { CloudEventsChoice, choicesOf, EventsPicker } from "./events-picker.tsx";
import { useWebhookEdits } from "./webhook-edits.ts";

interface EditEventsProps {
  readonly webhook: Webhook;
  readonly opened: boolean;
  readonly onClose: () => void;
}

const EditEventsForm = ({ webhook, onClose }: Omit<EditEventsProps, "opened">) => {
  const edits = useWebhookEdits();
  const [given] = useState(() => choicesOf(webhook.events));
  const [events, setEvents] = useState(given);
  const [cloudEvents, setCloudEvents] = useState(webhook.cloudEvents ?? false);
  const [error, setError] = useState<ApiError | undefined>();
  const save = async () => {
    const failure = await edits.update(webhook, {
      // Types that this page does not know stay as they are.
      ...(events !== given && { events }),
      cloudEvents,
    });
    if (failure === undefined) onClose();
    else setError(new ApiError(failure));
  };
  return (
    <Stack gap="md">
      <EventsPicker value={events} onChange={setEvents} />
      <CloudEventsChoice value={cloudEvents} onChange={setCloudEvents} />
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
