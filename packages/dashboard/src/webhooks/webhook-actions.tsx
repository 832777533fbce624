// The actions of a webhook: test, pause, and a menu with the rest.
import type { Webhook } from "@halyard/sdk/management";
import { Button, Menu } from "@mantine/core";
import { useState } from "react";
import { useLocation } from "wouter";
import { Icon } from "../components/display/icon.tsx";
import { ReplayRange } from "../deliveries/replay-range.tsx";
import { EditEvents } from "./edit-events.tsx";
import { RotateSecret } from "./rotate-secret.tsx";
import { useWebhookEdits } from "./webhook-edits.ts";

interface WebhookActionsProps {
  readonly webhook: Webhook;
  readonly onOpen: (deliveryId: string) => void;
}

export const WebhookActions = ({ webhook, onOpen }: WebhookActionsProps) => {
  const edits = useWebhookEdits();
  const [, navigate] = useLocation();
  const [dialog, setDialog] = useState<"events" | "rotate" | "replay" | undefined>();
  const close = () => setDialog(undefined);
  const test = async () => {
    const delivery = await edits.test(webhook);
    if (delivery) onOpen(delivery.id);
  };
  const remove = async () => {
    if (await edits.remove(webhook)) navigate("/webhooks");
  };
  return (
    <>
      {webhook.active && <Button onClick={() => void test()}>Send test</Button>}
      <Button
        variant={webhook.active ? "default" : "filled"}
        leftSection={<Icon name={webhook.active ? "pause" : "play"} size={16} />}
        onClick={() => void edits.setActive(webhook, !webhook.active)}
      >
        {webhook.active ? "Pause" : "Resume"}
      </Button>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <Button variant="default" rightSection={<Icon name="chevron" size={16} />}>
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<Icon name="clock" size={16} />}
            disabled={!webhook.active}
            onClick={() => setDialog("replay")}
          >
            Replay events
          </Menu.Item>
          <Menu.Item
            leftSection={<Icon name="edit" size={16} />}
            onClick={() => setDialog("events")}
          >
            Edit events
          </Menu.Item>
          <Menu.Item
            leftSection={<Icon name="rotate" size={16} />}
            onClick={() => setDialog("rotate")}
          >
            Rotate secret
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item leftSection={<Icon name="trash" size={16} />} onClick={() => void remove()}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <EditEvents webhook={webhook} opened={dialog === "events"} onClose={close} />
      <RotateSecret webhook={webhook} opened={dialog === "rotate"} onClose={close} />
      <ReplayRange webhook={webhook} opened={dialog === "replay"} onClose={close} />
    </>
  );
};
