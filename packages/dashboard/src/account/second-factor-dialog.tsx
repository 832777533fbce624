// Sets up the second factor: scan or type the secret, confirm with a code, save the recovery codes.
import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError } from "../api.ts";
import { CopyButton } from "../components/display/copy-button.tsx";
import { Dialog } from "../components/feedback/dialog.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { type PendingFactor, useAccountCalls } from "./account-calls.ts";
import { QrCode } from "./qr-code.tsx";
import { ShownRecoveryCodes } from "./recovery-codes.tsx";

/** In groups of four, which are easier to type. */
const spaced = (secret: string): string => secret.replaceAll(/(.{4})(?=.)/g, "$1 ");

interface SecondFactorDialogProps {
  readonly pending: PendingFactor;
  readonly onClose: () => void;
  /** The second factor is on. */
  readonly onConfirmed: () => void;
}

export const SecondFactorDialog = ({ pending, onClose, onConfirmed }: SecondFactorDialogProps) => {
  const calls = useAccountCalls();
  const [code, setCode] = useState("");
  const [codes, setCodes] = useState<readonly string[] | undefined>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const isWrong =
    error?.failure.code === "UNAUTHORIZED" || error?.failure.code === "VALIDATION_FAILED";
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const result = await calls.confirmFactor(code.replaceAll(/\s/g, ""));
    setBusy(false);
    if (!result.ok) return setError(new ApiError(result.error));
    setCodes(result.value.recoveryCodes);
    onConfirmed();
  };
  return (
    <Dialog
      onClose={onClose}
      title={codes === undefined ? "Set up the second factor" : "Recovery codes"}
      size="lg"
      // Only the button that says so discards the codes.
      closeOnClickOutside={false}
      closeOnEscape={codes === undefined}
      withCloseButton={codes === undefined}
    >
      {codes === undefined ? (
        <form onSubmit={(event) => void submit(event)}>
          <Stack gap="md">
            <Text size="sm">
              Scan this with an authenticator app, such as the one of your password manager or your
              phone.
            </Text>
            <div className="factor-secret">
              <QrCode text={pending.uri} label="QR code of the second factor" />
              <div>
                <Text size="sm" className="dimmed">
                  Or type the secret:
                </Text>
                <div className="factor-secret-line">
                  <code className="mono factor-secret-text">{spaced(pending.secret)}</code>
                  <CopyButton text={pending.secret} what="secret" />
                </div>
              </div>
            </div>
            <TextInput
              label="Code"
              description="The 6 digits that the app shows now"
              value={code}
              onChange={(event) => setCode(event.currentTarget.value)}
              autoComplete="one-time-code"
              inputMode="numeric"
              required
              data-autofocus
              error={
                isWrong ? "The code is wrong or has expired. Enter the one shown now." : undefined
              }
            />
            {error !== undefined && !isWrong && (
              <ErrorMessage error={error} title="The second factor was not set up" />
            )}
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={busy}>
                Turn it on
              </Button>
            </Group>
          </Stack>
        </form>
      ) : (
        <ShownRecoveryCodes codes={codes} onDone={onClose} />
      )}
    </Dialog>
  );
};
