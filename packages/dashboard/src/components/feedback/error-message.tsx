// An error with advice.
import { Alert, Button, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { explain } from "../../advice.ts";
import { Icon } from "../display/icon.tsx";

interface ErrorMessageProps {
  readonly error: unknown;
  readonly title?: string;
  /** What to do about it, where that is known better than by the kind of error. */
  readonly advice?: string | undefined;
  readonly onRetry?: () => unknown;
  /** What else may help, beside trying again. */
  readonly children?: ReactNode;
}

export const ErrorMessage = ({
  error,
  title = "Something went wrong",
  advice,
  onRetry,
  children,
}: ErrorMessageProps) => {
  const explained = explain(error);
  return (
    <Alert color="red" variant="light" title={title} icon={<Icon name="warning" />} role="alert">
      <Text size="sm">{explained.message}</Text>
      <Text size="sm" mt={4}>
        {advice ?? explained.advice}
      </Text>
      {onRetry !== undefined && (
        <Group mt="sm" gap="xs">
          <Button size="xs" variant="default" onClick={() => void onRetry()}>
            Try again
          </Button>
          {children}
        </Group>
      )}
    </Alert>
  );
};
