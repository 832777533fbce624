// Pages that the API shows to admin keys alone: with another key they say so instead of failing.
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useApi } from "../../session.tsx";
import { EmptyState } from "../feedback/empty-state.tsx";
import { PageTitle } from "./page-title.tsx";

interface AdminOnlyProps {
  /** Of the page. */
  readonly title: string;
  /** What is to be seen here, such as "The webhooks". */
  readonly what: string;
  readonly children: ReactNode;
}

export const AdminOnly = ({ title, what, children }: AdminOnlyProps) => {
  const { mayChange, environment } = useApi();
  if (mayChange) return children;
  return (
    <>
      <PageTitle title={title} />
      <EmptyState
        title="This needs an admin key"
        action={
          <Button component={Link} href="/sign-in?add=1" variant="default">
            Sign in with another key
          </Button>
        }
      >
        {what} of {environment.name} are shown to admin keys only. You are signed in with{" "}
        <strong>{environment.keyName}</strong>, which may read and evaluate flags.
      </EmptyState>
    </>
  );
};
