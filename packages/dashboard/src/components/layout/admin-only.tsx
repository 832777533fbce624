// Pages that need an admin key: with another key they say so instead of failing.
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { signInFrom } from "../../addresses.ts";
import { useApi } from "../../session.tsx";
import { EmptyState } from "../feedback/empty-state.tsx";
import { PageTitle } from "./page-title.tsx";

interface AdminOnlyProps {
  /** Of the page. */
  readonly title: string;
  /** What the page shows, such as "webhooks". */
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
        title="Admin key required"
        action={
          <Button component={Link} href={signInFrom()} variant="default">
            Sign in with another key
          </Button>
        }
      >
        Only admin keys can see {what} in {environment.name}. You are signed in with the key{" "}
        <strong>{environment.keyName}</strong>, which is read-only.
      </EmptyState>
    </>
  );
};
