// The dialog that makes a new secret for a webhook, explains the overlap, and shows the new one this once.
import type { RotatedSecret, Webhook } from "@halyard/sdk";
import { Button, Group, Modal, Radio, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { ApiError } from "../api.ts";
import { SecretOnce } from "../components/display/secret-once.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { formatFullDate } from "../format.ts";
import { useApi } from "../session.tsx";
import { useReadWebhooksAgain } from "./webhook-queries.ts";

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
  const readAgain = useReadWebhooksAgain();
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
    readAgain();
    onRotated(result.value);
  };
  return (
    <Stack gap="md">
      <Radio.Group label="What becomes of the old secret" value={how} onChange={setHow}>
        <Stack gap="sm" mt="xs">
          <Radio
            value="overlap"
            label="It stays good for 24 hours"
            description="Requests carry signatures of both secrets in webhook-signature, and X-Service-Signature is made with the old one. Put the new one in place within a day: no event is refused."
          />
          <Radio
            value="immediately"
            label="It is void at once, because it has leaked"
            description="Your receiver refuses events until it has the new one; they are sent again then."
          />
        </Stack>
      </Radio.Group>
      {error !== undefined && <ErrorMessage error={error} title="The secret was not changed" />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          loading={busy}
          onClick={() => void rotate()}
          {...(how === "immediately" && { color: "red.9" })}
        >
          Make a new secret
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
      title={rotated === undefined ? "Rotate the secret" : "The new secret"}
      size="lg"
      closeOnClickOutside={rotated === undefined}
    >
      {rotated === undefined ? (
        <RotateForm webhook={webhook} onClose={onClose} onRotated={setRotated} />
      ) : (
        <Stack gap="lg">
          <SecretOnce
            what="the new secret"
            text={rotated.secret}
            advice="Put it into HALYARD_WEBHOOK_SECRET of your receiver."
          />
          <Text size="sm">
            {rotated.previousSecretValidUntil === null
              ? "The old one is void."
              : `The old one is good until ${formatFullDate(rotated.previousSecretValidUntil)}.`}
          </Text>
          <Group justify="flex-end">
            <Button onClick={close}>I have the secret</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
};
