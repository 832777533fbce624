// Exchanges an API key for a session and never stores the key.
import { Button, PasswordInput, Text } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError, type Session, signIn } from "../api.ts";
import { CodeBlock } from "../components/display/code-block.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";

interface KeyFormProps {
  readonly onSignedIn: (session: Session) => void;
}

export const KeyForm = ({ onSignedIn }: KeyFormProps) => {
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const result = await signIn(key.trim());
    setBusy(false);
    if (result.ok) onSignedIn(result.value);
    else setError(new ApiError(result.error));
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <PasswordInput
        label="API key"
        description="Admin keys can make changes, server keys are read-only"
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
        required
        autoFocus
        error={
          error?.failure.code === "UNAUTHORIZED"
            ? "Unknown key: it may be mistyped, revoked, or from another server."
            : undefined
        }
      />
      {error !== undefined && error.failure.code !== "UNAUTHORIZED" && (
        <div className="sign-in-error">
          <ErrorMessage error={error} title="Sign-in failed" />
        </div>
      )}
      <Button type="submit" fullWidth mt="md" loading={busy}>
        Sign in
      </Button>
    </form>
  );
};

export const KeyIntroduction = () => (
  <Text className="dimmed" mt="xs">
    An API key belongs to one environment. It is exchanged for a session and never stored in the
    browser.
  </Text>
);

export const NoKey = () => (
  <>
    <Text className="dimmed" size="sm" mt="xl" mb="xs">
      No key? Create one on the server:
    </Text>
    <CodeBlock
      label="Create an admin key"
      what="command"
      code={'npx halyard keys create \\\n  --environment development --role admin --name "me"'}
    />
  </>
);
