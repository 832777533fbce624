// The sign-in page: exchanges an API key for a session and never stores the key.
import { Alert, Anchor, Button, PasswordInput, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { type FormEvent, useState } from "react";
import { Link, Redirect, useLocation, useSearchParams } from "wouter";
import { ApiError, signIn } from "../api.ts";
import { CodeBlock } from "../components/display/code-block.tsx";
import { Icon } from "../components/display/icon.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { lastSessionEnd, useSession } from "../session.tsx";
import { storeEnvironment } from "../start/first-requests.ts";

/** Only paths of this origin: anything else would be an open redirect. */
const safePath = (next: string | null): string =>
  next !== null && /^\/(?![/\\])/.test(next) && !next.startsWith("/sign-in") ? next : "/flags";

const LinkExpired = () => (
  <Alert color="yellow" title="This link has expired" icon={<Icon name="clock" />} mt="md">
    <Text size="sm">
      A sign-in link works once, within 10 minutes. Run halyard open on the server for a new one, or
      sign in with an API key.
    </Text>
  </Alert>
);

/** The server forgets ended sessions, so that only the limit of 12 hours is certain. */
const SessionEnded = ({ at }: { readonly at: string }) => (
  <Alert color="yellow" title="Your session has ended" icon={<Icon name="clock" />} mt="md">
    <Text size="sm">
      {new Date(at).getTime() <= Date.now()
        ? "A session lasts 12 hours at most."
        : "It was not used for a while, its key was revoked or has expired, or you signed out in another tab."}{" "}
      Sign in to return to the page you were on.
    </Text>
  </Alert>
);

export const SignInPage = () => {
  useDocumentTitle("Sign in · Halyard");
  const { session, refresh } = useSession();
  const [parameters] = useSearchParams();
  const [, navigate] = useLocation();
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const isAdding = parameters.has("add");
  const next = safePath(parameters.get("next"));
  const end = lastSessionEnd();
  if (session !== undefined && !isAdding) return <Redirect to={next} replace />;

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const before = new Set(session?.environments.map(({ name }) => name));
    const result = await signIn(key.trim());
    setBusy(false);
    if (!result.ok) {
      setError(new ApiError(result.error));
      return;
    }
    setKey("");
    const added = result.value?.environments.find(({ name }) => !before.has(name));
    if (added) storeEnvironment(added.name);
    await refresh();
    navigate(next, { replace: true });
  };

  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <span className="sign-in-brand">
          <Icon name="halyard" size={34} />
        </span>
        <Title order={1} size="h2">
          {isAdding ? "Sign in to another environment" : "Sign in to Halyard"}
        </Title>
        <Text className="dimmed" mt="xs">
          An API key belongs to one environment. It is exchanged for a 12-hour session and never
          stored in the browser.
        </Text>
        {parameters.get("link") === "expired" && <LinkExpired />}
        {session === undefined && end !== null && <SessionEnded at={end} />}
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
        {isAdding && (
          <Anchor component={Link} href="/flags" display="block" mt="md">
            Back to flags
          </Anchor>
        )}
        <Text className="dimmed" size="sm" mt="xl" mb="xs">
          No key? Create one on the server:
        </Text>
        <CodeBlock
          label="Create an admin key"
          what="command"
          code={'npx halyard keys create \\\n  --environment development --role admin --name "me"'}
        />
      </div>
    </main>
  );
};
