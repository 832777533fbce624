// The second factor: whether it is on, and what can be done about it.
import { Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import type { SessionUser } from "../api.ts";
import { StatusBadge } from "../components/display/status-badge.tsx";
import { useConfirm } from "../components/feedback/confirm.tsx";
import { Dialog } from "../components/feedback/dialog.tsx";
import { notifyDone, notifyError } from "../components/feedback/notify.tsx";
import { Section } from "../components/layout/section.tsx";
import { useSession } from "../session.tsx";
import { type PendingFactor, useAccountCalls } from "./account-calls.ts";
import { ShownRecoveryCodes } from "./recovery-codes.tsx";
import { SecondFactorDialog } from "./second-factor-dialog.tsx";

const Off = ({ onBegin }: { readonly onBegin: () => void }) => (
  <>
    <Text className="dimmed" mb="sm">
      With a second factor a password alone is not enough: you also enter a code of an authenticator
      app.
    </Text>
    <Button variant="default" size="xs" onClick={onBegin}>
      Set up
    </Button>
  </>
);

interface OnProps {
  readonly onCodes: () => void;
  readonly onRemove: () => void;
}

const On = ({ onCodes, onRemove }: OnProps) => (
  <>
    <Text className="dimmed" mb="sm">
      Signing in asks for a code of your authenticator app, or for a recovery code.
    </Text>
    <Group gap="xs">
      <Button variant="default" size="xs" onClick={onCodes}>
        New recovery codes
      </Button>
      <Button variant="default" size="xs" onClick={onRemove}>
        Turn off
      </Button>
    </Group>
  </>
);

export const SecondFactorSection = ({ user }: { readonly user: SessionUser }) => {
  const calls = useAccountCalls();
  const { refresh } = useSession();
  const ask = useConfirm();
  const [pending, setPending] = useState<PendingFactor | undefined>();
  const [codes, setCodes] = useState<readonly string[] | undefined>();

  const begin = async () => {
    const result = await calls.beginFactor();
    if (result.ok) setPending(result.value);
    else notifyError("The second factor was not set up", result.error);
  };
  const renew = async () => {
    const isSure = await ask({
      title: "New recovery codes?",
      body: "The recovery codes that you have now stop working.",
      confirmLabel: "Make new codes",
    });
    if (!isSure) return;
    const result = await calls.newRecoveryCodes();
    if (result.ok) setCodes(result.value.recoveryCodes);
    else notifyError("There are no new recovery codes", result.error);
  };
  const remove = async () => {
    const isSure = await ask({
      title: "Turn off the second factor?",
      body: "From then on your password alone signs you in, and the recovery codes stop working.",
      confirmLabel: "Turn off",
      danger: true,
    });
    if (!isSure) return;
    const result = await calls.removeFactor();
    if (!result.ok) return notifyError("The second factor is still on", result.error);
    notifyDone({ title: "Second factor", message: "Turned off." });
    await refresh();
  };

  return (
    <Section
      title="Second factor"
      aside={
        <StatusBadge tone={user.hasSecondFactor ? "good" : "quiet"}>
          {user.hasSecondFactor ? "on" : "off"}
        </StatusBadge>
      }
    >
      {user.hasSecondFactor ? (
        <On onCodes={() => void renew()} onRemove={() => void remove()} />
      ) : (
        <Off onBegin={() => void begin()} />
      )}
      {pending !== undefined && (
        <SecondFactorDialog
          pending={pending}
          onClose={() => setPending(undefined)}
          onConfirmed={() => void refresh()}
        />
      )}
      {codes !== undefined && (
        <Dialog
          title="Recovery codes"
          size="lg"
          onClose={() => setCodes(undefined)}
          closeOnClickOutside={false}
          closeOnEscape={false}
          withCloseButton={false}
        >
          <ShownRecoveryCodes codes={codes} onDone={() => setCodes(undefined)} />
        </Dialog>
      )}
    </Section>
  );
};
