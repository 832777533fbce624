// An error with advice.
import { Alert, Button, Text } from "@mantine/core";
import { explain } from "../../advice.ts";
import { Icon } from "../display/icon.tsx";

interface ErrorMessageProps {
  readonly error: unknown;
  readonly title?: string;
  readonly onRetry?: () => unknown;
}

export const ErrorMessage = ({
  error,
  title = "Something went wrong",
  onRetry,
}: ErrorMessageProps) => {
  const { message, advice } = explain(error);
  return (
    <Alert color="red" variant="light" title={title} icon={<Icon name="warning" />} role="alert">
      <Text size="sm">{message}</Text>
      <Text size="sm" mt={4}>
        {advice}
      </Text>
      {onRetry !== undefined && (
        <Button mt="sm" size="xs" variant="default" onClick={() => void onRetry()}>
          Try again
        </Button>
      )}
    </Alert>
  );
};
