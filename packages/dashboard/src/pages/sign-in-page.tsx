// Signing in: an API key is exchanged for a session; the key itself is kept nowhere.
import { Alert, Anchor, Button, PasswordInput, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { type FormEvent, useState } from "react";
import { Link, Redirect, useLocation, useSearchParams } from "wouter";
import { ApiError, signIn } from "../api.ts";
import { CodeBlock } from "../components/display/code-block.tsx";
import { Icon } from "../components/display/icon.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { useSession } from "../session.tsx";

/** Only a path of this page: an address of somebody else's would lead the person away. */
const safePath = (next: string | null): string =>
  next !== null && /^\/(?![/\\])/.test(next) && !next.startsWith("/sign-in") ? next : "/flags";

const LinkExpired = () => (
  <Alert color="yellow" title="This link is no longer good" icon={<Icon name="clock" />} mt="md">
    <Text size="sm">
      A sign-in link works once and for 10 minutes. Start the server again for a new one, or sign in
      with an API key.
    </Text>
  </Alert>
);

export const SignInPage = () => {
  useDocumentTitle("Sign in · Halyard");
  const { session, refresh, choose } = useSession();
  const [parameters] = useSearchParams();
  const [, navigate] = useLocation();
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const isAdding = parameters.has("add");
  const next = safePath(parameters.get("next"));
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
    if (added) choose(added.name);
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
          An API key leads to its environment. It is exchanged for a session of 12 hours and kept
          nowhere in the browser.
        </Text>
        {parameters.get("link") === "expired" && <LinkExpired />}
        <form onSubmit={(event) => void submit(event)}>
          <PasswordInput
            label="API key"
            description="With the role admin to make changes, or server to look"
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            required
            autoFocus
            error={
              error?.failure.code === "UNAUTHORIZED"
                ? "This key is not known here: it may be mistyped, revoked, or of another server."
                : undefined
            }
          />
          {error !== undefined && error.failure.code !== "UNAUTHORIZED" && (
            <div className="sign-in-error">
              <ErrorMessage error={error} title="Signing in did not work" />
            </div>
          )}
          <Button type="submit" fullWidth mt="md" loading={busy}>
            Sign in
          </Button>
        </form>
        {isAdding && (
          <Anchor component={Link} href="/flags" display="block" mt="md">
            Back to the flags
          </Anchor>
        )}
        <Text className="dimmed" size="sm" mt="xl" mb="xs">
          No key at hand? Make one where the server runs:
        </Text>
        <CodeBlock
          label="A new admin key"
          code={'npx halyard keys create \\\n  --environment development --role admin --name "me"'}
        />
      </div>
    </main>
  );
};
