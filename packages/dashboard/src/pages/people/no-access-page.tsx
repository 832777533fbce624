// What somebody sees in the place of an environment that they have no access to, or of all of them.
import { Anchor, Button, Group } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { Link, useLocation } from "wouter";
import { PasswordSection } from "../../account/password-section.tsx";
import { SecondFactorSection } from "../../account/second-factor-section.tsx";
import { SessionsSection } from "../../account/sessions-section.tsx";
import { signInFrom, switchTo } from "../../addresses.ts";
import type { Session } from "../../api.ts";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { useSignOut } from "../../components/layout/sign-out.tsx";
import { lastEnvironment, useSession } from "../../session.tsx";
import "../../styles/pages/people.css";

interface NoAccessProps {
  readonly session: Session;
  /** As the address names it. */
  readonly name: string;
}

export const NoAccess = ({ session, name }: NoAccessProps) => {
  const [path] = useLocation();
  const other = lastEnvironment(session);
  const isPerson = Boolean(session.user);
  return (
    <main className="sign-in">
      <EmptyState
        order={1}
        title={isPerson ? `You have no access to ${name}` : `You are not signed in to ${name}`}
        action={
          !isPerson && (
            <Button component={Link} href={signInFrom()}>
              Sign in to {name}
            </Button>
          )
        }
      >
        This page is part of the environment {name}.{" "}
        {isPerson ? "Ask an owner for a role there" : "Sign in with one of its keys"}
        {other !== undefined && (
          <>
            , or{" "}
            <Anchor inherit component={Link} href={switchTo(other, path)}>
              open the page in {other}
            </Anchor>
          </>
        )}
        .
      </EmptyState>
    </main>
  );
};

/** A person may have an account before anybody has given them a role: what is theirs alone is here. */
export const NoRole = () => {
  useDocumentTitle("No role yet · Halyard");
  const leave = useSignOut();
  const { session, refresh } = useSession();
  const user = session?.user;
  return (
    <main className="no-role">
      <EmptyState
        order={1}
        title="You have no role yet"
        action={
          <Group>
            <Button onClick={() => void refresh()}>Check again</Button>
            <Button variant="default" onClick={() => void leave()}>
              Sign out
            </Button>
          </Group>
        }
      >
        You are signed in as <strong>{user?.name}</strong>
        {user?.email && ` (${user.email})`}, and have access to no environment. Ask an owner of this
        Halyard for a role.
      </EmptyState>
      {user && (
        <>
          <PasswordSection user={user} />
          {user.hasPassword && <SecondFactorSection user={user} />}
          <SessionsSection />
        </>
      )}
    </main>
  );
};
