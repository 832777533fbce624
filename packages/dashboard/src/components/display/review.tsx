// How a change came into a protected environment: by which request, who approved it, or that nobody did.
import type { HistoryEntry } from "@halyard/sdk/management";
import { Anchor } from "@mantine/core";
import { Link } from "wouter";
import { pathOfRequest } from "../../proposal.ts";
import { ActorName } from "./actor-name.tsx";
import { StatusBadge } from "./status-badge.tsx";

type Reviewed = Pick<HistoryEntry, "changeRequest" | "bypass">;

export const Review = ({ of: { changeRequest, bypass } }: { readonly of: Reviewed }) => {
  if (changeRequest === undefined && bypass === undefined) return null;
  const names = changeRequest?.approvedBy ?? [];
  return (
    <p className="history-review">
      {bypass && (
        <>
          <StatusBadge tone="bad">without an approval</StatusBadge> by{" "}
          <ActorName actor={bypass.actor} />: “{bypass.reason}”{" "}
        </>
      )}
      {changeRequest && (
        <>
          {names.length > 0 && `Approved by ${names.join(", ")}. `}
          <Anchor component={Link} href={pathOfRequest(changeRequest.id)} inherit>
            Change request
          </Anchor>
        </>
      )}
    </p>
  );
};
