// What the states of a change request mean, and whose it is.
import type { ChangeRequestSummary } from "@halyard/sdk/management";
import type { Session } from "../api.ts";
import type { Tone } from "../components/display/status-badge.tsx";
import type { Api } from "../session.tsx";

export const requestStates: readonly ChangeRequestSummary["state"][] = [
  "open",
  "approved",
  "applied",
  "refused",
  "withdrawn",
];

export const toneOf = ({ state }: Pick<ChangeRequestSummary, "state">): Tone => {
  if (state === "applied") return "good";
  if (state === "refused") return "bad";
  return state === "withdrawn" ? "quiet" : "waiting";
};

/** Somebody can still do something about it. */
export const isPending = ({ state }: Pick<ChangeRequestSummary, "state">): boolean =>
  state === "open" || state === "approved";

/** Whether whoever is signed in proposed it: nobody approves their own. */
export const isOwn = (
  { authors }: Pick<ChangeRequestSummary, "authors">,
  session: Session | undefined,
  { environment }: Api,
): boolean => authors.includes(session?.user?.id ?? environment.keyId);

export const touches = (
  { operations }: Pick<ChangeRequestSummary, "operations">,
  kind: "flag" | "segment",
  key: string,
): boolean => operations.some((each) => each.kind === kind && each.key === key);
