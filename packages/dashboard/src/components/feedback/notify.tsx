// Notifications: what was done, with Undo, or what failed, with advice.
import type { ManagementError, Result } from "@halyard/sdk/management";
import { Anchor, Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { Link } from "wouter";
import { explain } from "../../advice.ts";
import { ApiError } from "../../api.ts";
import { proposedAt } from "../../proposal.ts";
import { Icon } from "../display/icon.tsx";

interface Done {
  readonly title: string;
  readonly message?: string;
  readonly undo?: () => void;
  /** In milliseconds, when there is more to read or to think over than usual. */
  readonly autoClose?: number;
}

type Failure = Extract<Result<unknown>, { readonly ok: false }>;

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

/** It is not done: somebody else must approve it. */
export const notifyProposed = (address: string): void => {
  const id = notifications.show({
    title: "Proposed",
    color: "accent",
    icon: <Icon name="proposal" />,
    autoClose: 20_000,
    closeButtonProps,
    message: (
      <Text size="sm">
        Nothing changes until somebody else approves it.{" "}
        <Anchor component={Link} inherit href={address} onClick={() => notifications.hide(id)}>
          Show the request
        </Anchor>
      </Text>
    ),
  });
};

/** For those who tell an error themselves. */
export const sayProposed = (failed: Failure): Failure => {
  const address = proposedAt(failed.error);
  if (address !== undefined) notifyProposed(address);
  return failed;
};

/** What was proposed is no error. */
export const notifyError = (title: string, error: ManagementError): void => {
  // They have seen it and did not want it.
  if (error.code === "TOO_MANY_FLIPS") return;
  const address = proposedAt(error);
  const { message, advice } = explain(new ApiError(error));
  if (address === undefined) notifyFailure(title, `${message} ${advice}`);
  else notifyProposed(address);
};
