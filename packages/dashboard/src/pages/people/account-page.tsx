// The account of the person who is signed in: password, second factor, sessions and personal keys.
import { PasswordSection } from "../../account/password-section.tsx";
import { PersonalKeysSection } from "../../account/personal-keys-section.tsx";
import { SecondFactorSection } from "../../account/second-factor-section.tsx";
import { SessionsSection } from "../../account/sessions-section.tsx";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { PageTitle } from "../../components/layout/page-title.tsx";
import { useApi, useSession } from "../../session.tsx";
import "../../styles/pages/people.css";

const NoAccount = () => {
  const { environment } = useApi();
  return (
    <>
      <PageTitle title="Account" />
      <EmptyState title="You have no account here">
        You are signed in with the key <strong>{environment.keyName}</strong>, not as a person. An
        owner can invite you.
      </EmptyState>
    </>
  );
};

export const AccountPage = () => {
  const { session } = useSession();
  const user = session?.user;
  if (!user) return <NoAccount />;
  return (
    <>
      <PageTitle
        title="Account"
        description={
          <>
            {user.name}
            {user.email !== null && `, ${user.email}`}
            {user.isOwner && ", owner"}
          </>
        }
      />
      <PasswordSection user={user} />
      {user.hasPassword && <SecondFactorSection user={user} />}
      <SessionsSection />
      <PersonalKeysSection />
    </>
  );
};
