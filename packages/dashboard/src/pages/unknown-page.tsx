// Shown at an address that does not exist.
import { Button } from "@mantine/core";
import { Link } from "wouter";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { PageTitle } from "../components/layout/page-title.tsx";

export const UnknownPage = () => (
  <>
    <PageTitle title="Page not found" />
    <EmptyState
      title="There is nothing at this address"
      action={
        <Button component={Link} href="/flags">
          Open the flags
        </Button>
      }
    >
      The link may be outdated or mistyped.
    </EmptyState>
  </>
);
