// The dialog that asks a person to prove once more who they are; then what was refused goes on.
import { Button, Group, Modal, PasswordInput, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useEffectEvent, useState } from "react";
import { ApiError, readSession, type SessionUser, valueOrThrow } from "../api.ts";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { useSession, useSessionFetch } from "../session.tsx";
import { onSignedInAgain } from "./again-channel.ts";
import { CodeInput } from "./code-input.tsx";
import { SavedUsername } from "./new-password.tsx";
import {
  needsCode,
  type Provider,
  providerAddress,
  readWays,
  signInAgain,
} from "./sign-in-calls.ts";

export interface SignInAgainProps {
  readonly onDone: (isSignedIn: boolean) => void;
}

interface WithPasswordProps extends SignInAgainProps {
  readonly user: SessionUser;
}

const WithPassword = ({ user, onDone }: WithPasswordProps) => {
  const { accept } = useSession();
  const fetch = useSessionFetch();
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const isWrong = error?.failure.code === "UNAUTHORIZED";
  const isWrongCode = isWrong && needsCode({ ok: false, error: error.failure });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const result = await signInAgain(fetch, {
      password,
      ...(user.hasSecondFactor && { code: code.replaceAll(/\s/g, "") }),
    });
    setBusy(false);
    if (!result.ok) return setError(new ApiError(result.error));
    accept(result.value);
    onDone(true);
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <SavedUsername email={user.email} />
      <PasswordInput
        name="password"
        label="Password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        autoComplete="current-password"
        required
        data-autofocus
        error={isWrong && !isWrongCode ? "The password is wrong." : undefined}
      />
      {user.hasSecondFactor && (
        <div className="sign-in-code">
          <CodeInput
            value={code}
            onChange={setCode}
            error={isWrongCode ? "The code is wrong, has expired or was used before." : undefined}
          />
        </div>
      )}
      {error !== undefined && !isWrong && (
        <div className="sign-in-error">
          <ErrorMessage error={error} title="Sign-in failed" />
        </div>
      )}
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={() => onDone(false)}>
          Cancel
        </Button>
        <Button type="submit" loading={busy}>
          Continue
        </Button>
      </Group>
    </form>
  );
};

interface WithProvidersProps extends SignInAgainProps {
  readonly providers: readonly Provider[];
}

/** In a window of its own, so that nothing is lost that somebody has typed here. */
const WithProviders = ({ providers, onDone }: WithProvidersProps) => {
  const { accept } = useSession();
  const finish = useEffectEvent(async () => {
    const session = await readSession().catch(() => undefined);
    if (session === undefined) return;
    accept(session);
    onDone(true);
  });
  useEffect(() => onSignedInAgain(() => void finish()), []);
  return (
    <Stack gap="xs">
      {providers.map((provider) => (
        <Button
          key={provider.id}
          component="a"
          href={providerAddress(provider, { to: "/sign-in?again=done", again: "1" })}
          target="_blank"
          rel="opener"
          variant="default"
        >
          Continue with {provider.name}
        </Button>
      ))}
    </Stack>
  );
};

export const SignInAgain = ({ onDone }: SignInAgainProps) => {
  const { session } = useSession();
  const user = session?.user;
  const ways = useQuery({
    queryKey: ["ways"],
    queryFn: async () => valueOrThrow(await readWays()),
  }).data;
  // The one that they came from; whoever has a password came with it or can.
  const providers = (ways?.providers ?? []).filter(
    ({ id }) => session?.method === `oidc:${id}` || user?.hasPassword === false,
  );
  return (
    <Modal
      opened
      centered
      onClose={() => onDone(false)}
      title="Sign in again"
      closeOnEscape={false}
      // The library would close the dialog behind this one too.
      onFocusCapture={({ target }) => target.setAttribute("data-mantine-stop-propagation", "true")}
      onKeyDown={({ key }) => {
        if (key === "Escape") onDone(false);
      }}
    >
      <Text size="sm" mb="md">
        This needs a recent sign-in. Show that it is you, {user?.name}; then it goes on.
      </Text>
      {providers.length > 0 && <WithProviders providers={providers} onDone={onDone} />}
      {user?.hasPassword && <WithPassword user={user} onDone={onDone} />}
    </Modal>
  );
};
