// The sign-in page: the ways that the server offers, and an API key in any case.
import { Anchor, Divider, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, Redirect, useLocation, useSearchParams } from "wouter";
import { type Session, valueOrThrow } from "../api.ts";
import { Icon } from "../components/display/icon.tsx";
import { useSession } from "../session.tsx";
import { signedInAgain } from "../sign-in/again-channel.ts";
import { KeyForm, KeyIntroduction, NoKey } from "../sign-in/key-form.tsx";
import { LinkExpired, ProviderFailed, SessionEnded } from "../sign-in/notices.tsx";
import { PasswordForm } from "../sign-in/password-form.tsx";
import { ProviderLinks } from "../sign-in/provider-links.tsx";
import { readWays, type Ways } from "../sign-in/sign-in-calls.ts";
import { storeEnvironment } from "../start/first-requests.ts";

/** Only paths of this origin: anything else would be an open redirect. */
const safePath = (next: string | null): string =>
  next !== null && /^\/(?![/\\])/.test(next) && !next.startsWith("/sign-in") ? next : "/flags";

/** In the window that a provider was opened in: the page that opened it goes on. */
const SignedInAgain = () => {
  useEffect(signedInAgain, []);
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <Title order={1} size="h2">
          You are signed in
        </Title>
        <p>Close this window and go on where you were.</p>
      </div>
    </main>
  );
};

const none: Ways = { password: false, providers: [] };

/** Undefined while they are not known; a server that does not say has keys only. */
const useWays = (isNeeded: boolean): Ways | undefined => {
  const query = useQuery({
    queryKey: ["ways"],
    queryFn: async () => valueOrThrow(await readWays()),
    enabled: isNeeded,
  });
  return query.isError || !isNeeded ? none : query.data;
};

interface ForPeopleProps {
  readonly ways: Ways;
  readonly next: string;
  readonly onSignedIn: (session: Session) => void;
}

const ForPeople = ({ ways, next, onSignedIn }: ForPeopleProps) => (
  <>
    {ways.providers.length > 0 && <ProviderLinks providers={ways.providers} to={next} />}
    {ways.providers.length > 0 && ways.password && <Divider label="or" my="lg" />}
    {ways.password && <PasswordForm onSignedIn={onSignedIn} />}
  </>
);

export const SignInPage = () => {
  useDocumentTitle("Sign in · Halyard");
  const { session, accept } = useSession();
  const [parameters] = useSearchParams();
  const [, navigate] = useLocation();
  const isAdding = parameters.has("add");
  const ways = useWays(!isAdding);
  const [wantsKey, setWantsKey] = useState(false);
  const next = safePath(parameters.get("next"));
  const failed = parameters.get("failed");
  if (parameters.has("again") && session !== undefined) return <SignedInAgain />;
  if (session !== undefined && !isAdding) return <Redirect to={next} replace />;

  const hasPeople = ways !== undefined && (ways.password || ways.providers.length > 0);
  const showsKey = ways !== undefined && (wantsKey || !hasPeople);
  const signedIn = (made: Session) => {
    const before = new Set(session?.environments.map(({ name }) => name));
    const added = made.environments.find(({ name }) => !before.has(name));
    if (added && made.user === null) storeEnvironment(added.name);
    accept(made);
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
        {showsKey && <KeyIntroduction />}
        {parameters.get("link") === "expired" && <LinkExpired />}
        {failed !== null && <ProviderFailed code={failed} />}
        {session === undefined && <SessionEnded />}
        {ways !== undefined && !showsKey && (
          <ForPeople ways={ways} next={next} onSignedIn={signedIn} />
        )}
        {showsKey && <KeyForm onSignedIn={signedIn} />}
        {isAdding && (
          <Anchor component={Link} href="/flags" display="block" mt="md">
            Back to flags
          </Anchor>
        )}
        {hasPeople && (
          <Anchor
            component="button"
            type="button"
            size="sm"
            mt="lg"
            onClick={() => setWantsKey(!wantsKey)}
          >
            {wantsKey ? "Sign in as a person" : "Sign in with an API key"}
          </Anchor>
        )}
        {showsKey && !wantsKey && <NoKey />}
      </div>
    </main>
  );
};
