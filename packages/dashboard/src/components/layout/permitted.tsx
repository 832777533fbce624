// Pages that not everybody may see: they say so instead of failing.
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { signInFrom } from "../../addresses.ts";
import { useApi, useSession } from "../../session.tsx";
import { EmptyState } from "../feedback/empty-state.tsx";
import { PageTitle } from "./page-title.tsx";

interface PermittedProps {
  /** Of the page. */
  readonly title: string;
  /** What the page shows, such as "webhooks". */
  readonly what: string;
  /** The permission, and who has it. */
  readonly needs: string;
  readonly who: "admin" | "owner";
  readonly children: ReactNode;
}

const ForPerson = ({ what, who }: Pick<PermittedProps, "what" | "who">) => {
  const { environment } = useApi();
  return (
    <EmptyState title={`For ${who}s only`}>
      Only {who}s can see {what}
      {who === "admin" && ` in ${environment.name}`}. Your role in {environment.name} is{" "}
      <strong>{environment.role}</strong>; an owner can change it.
    </EmptyState>
  );
};

const ForKey = ({ what, who }: Pick<PermittedProps, "what" | "who">) => {
  const { environment } = useApi();
  return (
    <EmptyState
      title={who === "admin" ? "Admin key required" : "For owners only"}
      action={
        <Button component={Link} href={signInFrom()} variant="default">
          Sign in with another key
        </Button>
      }
    >
      Only {who === "admin" ? "admin keys" : "owners"} can see {what} in {environment.name}. You are
      signed in with the key <strong>{environment.keyName}</strong>, which is{" "}
      {environment.role === "server" ? "read-only" : `that of an ${environment.role}`}.
    </EmptyState>
  );
};

export const Permitted = ({ title, what, needs, who, children }: PermittedProps) => {
  const { may } = useApi();
  const { session } = useSession();
  if (may(needs)) return children;
  return (
    <>
      <PageTitle title={title} />
      {session?.user ? <ForPerson what={what} who={who} /> : <ForKey what={what} who={who} />}
    </>
  );
};
