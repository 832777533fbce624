// Why somebody is on the sign-in page again, said plainly.
import { Alert, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Icon } from "../components/display/icon.tsx";
import { lastSession } from "../session.tsx";

const Notice = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <Alert color="yellow" title={title} icon={<Icon name="clock" />} mt="md">
    <Text size="sm">{children}</Text>
  </Alert>
);

export const LinkExpired = () => (
  <Notice title="This link has expired">
    A sign-in link works once, within 10 minutes. Run halyard open on the server for a new one, or
    sign in with an API key.
  </Notice>
);

/** The server forgets ended sessions, so that only their longest time is certain. */
export const SessionEnded = () => {
  const last = lastSession();
  if (last === undefined) return null;
  const reason = last.ofPerson
    ? "It was not used for a while, it was ended on another device, or your account was removed."
    : "It was not used for a while, its key was revoked or has expired, or you signed out in another tab.";
  return (
    <Notice title="Your session has ended">
      {new Date(last.endsAt).getTime() <= Date.now()
        ? "It has lasted as long as a session may."
        : reason}{" "}
      Sign in to return to the page you were on.
    </Notice>
  );
};

/** By the code that the server sends the browser back with. */
const failures: Readonly<Record<string, string>> = {
  state:
    "The sign-in took too long, or it was begun in another tab or browser. Begin again from here.",
  denied: "The provider did not sign you in, or you cancelled it there.",
  provider:
    "The provider does not respond, or its response cannot be accepted. Try again; if it keeps failing, tell whoever operates this Halyard.",
  "no-access":
    "The provider knows you, but you have no account here. Ask an owner of this Halyard to invite you.",
  subject:
    "The provider sent a subject (sub) that can't name an account: it must be valid text of up to 255 characters. Ask the operator of the provider to change it.",
};

export const ProviderFailed = ({ code }: { readonly code: string }) => (
  <Alert
    color="red"
    variant="light"
    title="You were not signed in"
    icon={<Icon name="warning" />}
    role="alert"
    mt="md"
  >
    <Text size="sm">{failures[code] ?? failures.provider}</Text>
  </Alert>
);
