// Links a change of a flag to the flag at that revision.
import { Anchor } from "@mantine/core";
import { Link } from "wouter";
import { formatNumber } from "../format.ts";
import { useApi } from "../session.tsx";

interface AsItWasProps {
  readonly flagKey: string;
  readonly revision: number;
}

export const AsItWas = ({ flagKey, revision }: AsItWasProps) => {
  const { mayChange } = useApi();
  if (!mayChange) return null;
  return (
    <Anchor
      component={Link}
      href={`/flags/${encodeURIComponent(flagKey)}?revision=${revision}`}
      size="sm"
      aria-label={`View this revision (revision ${formatNumber(revision)})`}
    >
      View this revision
    </Anchor>
  );
};
