// Changes the password.
import { Button, PasswordInput, Stack, Text } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError, type SessionUser } from "../api.ts";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { notifyDone } from "../components/feedback/notify.tsx";
import { Section } from "../components/layout/section.tsx";
import { useSession } from "../session.tsx";
import { NewPassword, passwordError, SavedUsername } from "../sign-in/new-password.tsx";
import { useAccountCalls } from "./account-calls.ts";

interface ChangeProps {
  readonly user: SessionUser;
  readonly onClose: () => void;
}

const ChangePassword = ({ user, onClose }: ChangeProps) => {
  const calls = useAccountCalls();
  const { refresh } = useSession();
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const isWrong = error?.failure.code === "UNAUTHORIZED";
  const refused = passwordError(error);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const result = await calls.setPassword({ current, password });
    setBusy(false);
    if (!result.ok) return setError(new ApiError(result.error));
    onClose();
    notifyDone({ title: "Password changed", message: "Your other sessions have ended." });
    await refresh();
  };
  return (
    <form className="account-form" onSubmit={(event) => void submit(event)}>
      <SavedUsername email={user.email} />
      <Stack gap="sm">
        <PasswordInput
          label="Current password"
          name="current"
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
          autoComplete="current-password"
          required
          autoFocus
          error={isWrong ? "The password is wrong." : undefined}
        />
        <NewPassword label="New password" value={password} onChange={setPassword} error={refused} />
        {error !== undefined && !isWrong && refused === undefined && (
          <ErrorMessage error={error} title="The password was not changed" />
        )}
        <div className="account-buttons">
          <Button type="submit" loading={busy}>
            Change password
          </Button>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </Stack>
    </form>
  );
};

export const PasswordSection = ({ user }: { readonly user: SessionUser }) => {
  const [opened, setOpened] = useState(false);
  return (
    <Section
      title="Password"
      aside={
        user.hasPassword &&
        !opened && (
          <Button variant="default" size="xs" onClick={() => setOpened(true)}>
            Change password
          </Button>
        )
      }
    >
      {opened ? (
        <ChangePassword user={user} onClose={() => setOpened(false)} />
      ) : (
        <Text className="dimmed">
          {user.hasPassword
            ? "You sign in with your e-mail address and a password."
            : "You have none: you sign in with a provider. With an invitation from an owner you can choose one."}
        </Text>
      )}
    </Section>
  );
};
