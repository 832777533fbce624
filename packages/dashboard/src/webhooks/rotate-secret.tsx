// The dialog that rotates the secret of a webhook and shows the new one once.
import type { RotatedSecret, Webhook } from "@halyard/sdk/management";
import { Button, Group, Modal, Radio, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { ApiError } from "../api.ts";
import { SecretOnce } from "../components/display/secret-once.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { formatFullDate } from "../format.ts";
import { useApi } from "../session.tsx";
import { useRefetchWebhooks } from "./webhook-queries.ts";

interface RotateSecretProps {
  readonly webhook: Webhook;
  readonly opened: boolean;
  readonly onClose: () => void;
}

const RotateForm = ({
  webhook,
  onClose,
  onRotated,
}: Omit<RotateSecretProps, "opened"> & {
  readonly onRotated: (rotated: RotatedSecret) => void;
}) => {
  const { management } = useApi();
  const refetch = useRefetchWebhooks();
  const [how, setHow] = useState("overlap");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const rotate = async () => {
    setBusy(true);
    const immediately = how === "immediately";
    const result = await management.webhooks.rotateSecret(webhook.id, { immediately });
    setBusy(false);
    if (!result.ok) {
      setError(new ApiError(result.error));
      return;
    }
    refetch();
    onRotated(result.value);
  };
  return (
    <Stack gap="md">
      <Radio.Group label="Old secret" value={how} onChange={setHow}>
        <Stack gap="sm" mt="xs">
          <Radio
            value="overlap"
            label="Keep it valid for 24 hours"
            description="Requests are signed with both secrets in webhook-signature; X-Service-Signature uses the old one. Install the new secret within a day, and your receiver rejects no event."
          />
          <Radio
            value="immediately"
            label="Revoke it immediately, because it has leaked"
            description="Your receiver rejects events until it has the new secret. Halyard retries them."
          />
        </Stack>
      </Radio.Group>
      {error !== undefined && <ErrorMessage error={error} title="The secret was not rotated" />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          loading={busy}
          onClick={() => void rotate()}
          {...(how === "immediately" && { color: "red.9" })}
        >
          Rotate secret
        </Button>
      </Group>
    </Stack>
  );
};

export const RotateSecret = ({ webhook, opened, onClose }: RotateSecretProps) => {
  const [rotated, setRotated] = useState<RotatedSecret | undefined>();
  const close = () => {
    setRotated(undefined);
    onClose();
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={rotated === undefined ? "Rotate secret" : "New secret"}
      size="lg"
      closeOnClickOutside={rotated === undefined}
      closeOnEscape={rotated === undefined}
      withCloseButton={rotated === undefined}
    >
      {rotated === undefined ? (
        <RotateForm webhook={webhook} onClose={onClose} onRotated={setRotated} />
      ) : (
        <Stack gap="lg">
          <SecretOnce
            what="new secret"
            text={rotated.secret}
            advice="Set it as HALYARD_WEBHOOK_SECRET in your receiver."
          />
          <Text size="sm">
            {rotated.previousSecretValidUntil === null
              ? "The old secret is no longer valid."
              : `The old secret is valid until ${formatFullDate(rotated.previousSecretValidUntil)}.`}
          </Text>
          <Group justify="flex-end">
            <Button onClick={close}>I saved the secret</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
};
