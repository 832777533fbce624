// The page of an invitation: choose a name and a password, or continue with a provider.
import { Alert, Button, Divider, Text, TextInput, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { ApiError, valueOrThrow } from "../../api.ts";
import { Icon } from "../../components/display/icon.tsx";
import { ErrorMessage } from "../../components/feedback/error-message.tsx";
import { RowsSkeleton } from "../../components/feedback/skeletons.tsx";
import { describeRoles } from "../../people/describe-roles.ts";
import { useSession } from "../../session.tsx";
import { CodeInput } from "../../sign-in/code-input.tsx";
import { NewPassword, passwordError } from "../../sign-in/new-password.tsx";
import { ProviderLinks } from "../../sign-in/provider-links.tsx";
import {
  acceptInvitation,
  type Invitation,
  needsCode,
  readInvitation,
} from "../../sign-in/sign-in-calls.ts";

interface AcceptProps {
  readonly token: string;
  readonly invitation: Invitation;
}

const Accept = ({ token, invitation }: AcceptProps) => {
  const { accept } = useSession();
  const [, navigate] = useLocation();
  const [name, setName] = useState(invitation.name);
  const [password, setPassword] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const [code, setCode] = useState<string | undefined>();
  const refused = passwordError(error);
  const isWrongCode =
    error !== undefined && needsCode({ ok: false, error: error.failure }) && code !== undefined;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const result = await acceptInvitation({
      ...{ token, name: name.trim(), password },
      ...(code !== undefined && { code: code.replaceAll(/\s/g, "") }),
    });
    setBusy(false);
    if (!result.ok) {
      const isFirst = needsCode(result) && code === undefined;
      if (needsCode(result)) setCode("");
      return setError(isFirst ? undefined : new ApiError(result.error));
    }
    accept(result.value);
    // The link is used up: going back must not lead to it.
    navigate("/flags", { replace: true });
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      {invitation.email !== null && (
        <TextInput
          type="email"
          name="email"
          label="E-mail address"
          description="You sign in with it"
          value={invitation.email}
          autoComplete="username"
          readOnly
        />
      )}
      <TextInput
        label="Your name"
        description="Others see it beside what you change"
        name="name"
        mt="sm"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        autoComplete="name"
        maxLength={100}
        required
      />
      <div className="sign-in-code">
        <NewPassword
          label="Password"
          value={password}
          onChange={setPassword}
          error={refused}
          focused
        />
      </div>
      {code !== undefined && (
        <div className="sign-in-code">
          <CodeInput
            value={code}
            onChange={setCode}
            error={isWrongCode ? "The code is wrong, has expired or was used before." : undefined}
            focused
          />
        </div>
      )}
      {error !== undefined && refused === undefined && !isWrongCode && (
        <div className="sign-in-error">
          <ErrorMessage error={error} title="The invitation was not accepted" />
        </div>
      )}
      <Button type="submit" fullWidth mt="md" loading={busy}>
        Accept the invitation
      </Button>
    </form>
  );
};

const rightsOf = ({ owner, roles }: Invitation): string => {
  if (owner) return "You are an owner: you also manage people and environments.";
  const described = describeRoles(roles);
  return described === ""
    ? "You have no role yet: after signing in, ask an owner for one."
    : `Your role: ${described}.`;
};

const Expired = () => (
  <Alert color="yellow" title="This invitation cannot be used" icon={<Icon name="clock" />} mt="md">
    <Text size="sm">
      An invitation works once, within 7 days, and ends when a newer one is made. Ask whoever
      invited you for a new link. If you have accepted it already, sign in.
    </Text>
    <Button component="a" href="/sign-in" variant="default" size="xs" mt="sm">
      Sign in
    </Button>
  </Alert>
);

export const InvitationPage = () => {
  useDocumentTitle("Invitation · Halyard");
  const [parameters] = useSearchParams();
  const token = parameters.get("token") ?? "";
  const query = useQuery({
    queryKey: ["invitation", token],
    queryFn: async () => valueOrThrow(await readInvitation(token)),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const invitation = query.data;
  const isOver = query.error instanceof ApiError && query.error.failure.status !== undefined;
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <span className="sign-in-brand">
          <Icon name="halyard" size={34} />
        </span>
        <Title order={1} size="h2">
          Welcome to Halyard
        </Title>
        {query.isPending && <RowsSkeleton rows={3} />}
        {query.error !== null &&
          (isOver ? <Expired /> : <ErrorMessage error={query.error} onRetry={query.refetch} />)}
        {invitation !== undefined && (
          <>
            <Text className="dimmed" mt="xs">
              {invitation.invitedBy === null ? "You were" : `${invitation.invitedBy} has`} invited
              {invitation.invitedBy !== null && " you"} to Halyard at {location.host}, which turns
              features of your software on and off.
            </Text>
            <Text mt="xs">{rightsOf(invitation)}</Text>
            {invitation.providers.length > 0 && (
              <>
                <ProviderLinks providers={invitation.providers} to="/flags" invitation={token} />
                <Divider label="or choose a password" my="lg" />
              </>
            )}
            <Accept token={token} invitation={invitation} />
          </>
        )}
      </div>
    </main>
  );
};
