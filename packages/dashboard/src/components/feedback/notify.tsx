// Notifications: what was done, with Undo, or what failed, with advice.
import type { ManagementError } from "@halyard/sdk";
import { Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { explain } from "../../advice.ts";
import { ApiError } from "../../api.ts";
import { Icon } from "../display/icon.tsx";

interface Done {
  readonly title: string;
  readonly message?: string;
  readonly undo?: () => void;
  /** In milliseconds, when there is more to read or to think over than usual. */
  readonly autoClose?: number;
}

const closeButtonProps = { "aria-label": "Close notification" };

export const notifyDone = ({ title, message, undo, autoClose }: Done): void => {
  const id = notifications.show({
    title,
    color: "teal",
    ...(autoClose !== undefined && { autoClose }),
    icon: <Icon name="check" />,
    closeButtonProps,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        {undo !== undefined && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<Icon name="undo" size={14} />}
            onClick={() => {
              notifications.hide(id);
              undo();
            }}
          >
            Undo
          </Button>
        )}
      </Group>
    ),
  });
};

export const notifyFailure = (title: string, message: string): void => {
  notifications.show({
    title,
    color: "red",
    icon: <Icon name="warning" />,
    // An error takes longer to read.
    autoClose: 20_000,
    closeButtonProps,
    message,
  });
};

export const notifyError = (title: string, error: ManagementError): void => {
  const { message, advice } = explain(new ApiError(error));
  notifyFailure(title, `${message} ${advice}`);
};
