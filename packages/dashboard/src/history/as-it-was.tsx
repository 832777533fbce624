// From a change of a flag to the flag as it was then: "Why did they get that?".
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
      aria-label={`As it was then (revision ${formatNumber(revision)})`}
    >
      As it was then
    </Anchor>
  );
};
