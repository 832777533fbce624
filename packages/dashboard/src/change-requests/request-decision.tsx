// What comes next for a request, and the buttons of those who may decide.

import { actorText } from "@halyard/core/history/actor-text";
import { maxReasonLength } from "@halyard/core/reason";
import type { ChangeRequest } from "@halyard/sdk/management";
import { Alert, Button, Group } from "@mantine/core";
import { useState } from "react";
import { Icon } from "../components/display/icon.tsx";
import { Time } from "../components/display/time.tsx";
import { formatFullDate } from "../format.ts";
import { useApi, useSession } from "../session.tsx";
import { isOwn, isPending } from "./change-request.ts";
import { type RequestActions, useRequestActions } from "./request-actions.ts";
import { maxCommentLength } from "./request-discussion.tsx";
import { TextDialog } from "./text-dialog.tsx";

type Asked = "refuse" | "edit" | "bypass";

interface AskProps {
  readonly asked: Asked;
  readonly request: ChangeRequest;
  readonly actions: RequestActions;
  readonly onClose: () => void;
}

const Ask = ({ asked, request, actions, onClose }: AskProps) => {
  switch (asked) {
    case "refuse":
      return (
        <TextDialog
          title="Refuse this request?"
          label="Comment (what should be different)"
          maxLength={maxCommentLength}
          confirmLabel="Refuse"
          danger
          onClose={onClose}
          onSubmit={({ text }) => actions.refuse(text)}
        />
      );
    case "edit":
      return (
        <TextDialog
          title="Change this request"
          label="Reason"
          initial={request.reason ?? ""}
          maxLength={maxReasonLength}
          applyAt={request.applyAt}
          confirmLabel="Change request"
          onClose={onClose}
          onSubmit={({ text, applyAt }) => actions.edit({ reason: text, applyAt })}
        >
          {request.approvals.some(({ state }) => state === "given") && (
            <p className="confirm-sentence">
              Approvals that were given no longer count after a change.
            </p>
          )}
        </TextDialog>
      );
    case "bypass":
      return (
        <TextDialog
          title="Apply without an approval?"
          label="Why can it not wait for an approval?"
          maxLength={maxReasonLength}
          required
          confirmLabel="Apply without an approval"
          danger
          onClose={onClose}
          onSubmit={({ text }) => actions.bypass(text)}
        >
          <p className="confirm-sentence">
            It is applied at once. That nobody approved it is marked on the request, in history, in
            events and in the audit log, with your name and this reason.
          </p>
        </TextDialog>
      );
  }
};

const statusText = (request: ChangeRequest, own: boolean, mayReview: boolean): string => {
  const { state, moved, applyAt } = request;
  if (state === "approved") {
    return applyAt === null
      ? "Approved, but not applied yet."
      : `Approved. It is applied at ${formatFullDate(applyAt)}.`;
  }
  if (moved.length > 0) {
    const next = own ? "Rebase it to apply the same change" : "The author must rebase it";
    return `${moved.join(", ")} changed since this was proposed, so it can’t be approved. ${next}.`;
  }
  if (own) return "You proposed this, so you cannot approve it: somebody else has to.";
  const when =
    applyAt === null ? "" : ` Once approved, it is applied at ${formatFullDate(applyAt)}.`;
  if (request.approvalsNeeded > 1) {
    const given = request.approvals.filter((each) => each.state === "given").length;
    return `A key that belongs to no person proposed this. It needs approvals from ${request.approvalsNeeded} people, or from one owner. It has ${given}.${when}`;
  }
  return mayReview
    ? `It changes nothing until you or somebody else approves it.${when}`
    : `It waits for a person who may approve it. Keys cannot.${when}`;
};

/** Those that are over. */
const Outcome = ({ request }: { readonly request: ChangeRequest }) => {
  const { state, appliedAt, updatedAt } = request;
  const words = { applied: "Applied", refused: "Refused", withdrawn: "Withdrawn" } as const;
  if (state !== "applied" && state !== "refused" && state !== "withdrawn") return null;
  return (
    <p className="request-outcome" role="status">
      {words[state]} <Time at={appliedAt ?? updatedAt} />
      {state !== "applied" && ". It changed nothing"}.
    </p>
  );
};

export const RequestDecision = ({ request }: { readonly request: ChangeRequest }) => {
  const api = useApi();
  const { session } = useSession();
  const actions = useRequestActions(request);
  const [asked, setAsked] = useState<Asked | undefined>();
  if (!isPending(request)) return <Outcome request={request} />;
  const own = isOwn(request, session, api);
  // A key is nobody who could look at it.
  const mayReview = api.may("change-requests.review") && session?.user != null;
  const hasMoved = request.moved.length > 0;
  const { busy } = actions;
  return (
    <div className="panel request-decision">
      <p role="status">{statusText(request, own, mayReview)}</p>
      <Group gap="xs">
        {!own && mayReview && request.state === "open" && !hasMoved && (
          <Button
            leftSection={<Icon name="check" size={16} />}
            loading={busy}
            onClick={() => void actions.approve()}
          >
            Approve
          </Button>
        )}
        {own && hasMoved && (
          <Button
            leftSection={<Icon name="rotate" size={16} />}
            loading={busy}
            onClick={() => void actions.rebase()}
          >
            Rebase
          </Button>
        )}
        {request.state === "approved" && mayReview && request.applyAt === null && (
          <Button loading={busy} onClick={() => void actions.applyNow()}>
            Apply now
          </Button>
        )}
        {!own && mayReview && (
          <Button variant="default" onClick={() => setAsked("refuse")}>
            Refuse…
          </Button>
        )}
        {own && (
          <>
            <Button variant="default" onClick={() => setAsked("edit")}>
              Edit reason and time…
            </Button>
            <Button variant="default" disabled={busy} onClick={() => void actions.withdraw()}>
              Withdraw
            </Button>
          </>
        )}
        {api.may("environments.write") && !hasMoved && (
          <Button variant="subtle" color="red" onClick={() => setAsked("bypass")}>
            Apply without an approval…
          </Button>
        )}
      </Group>
      {asked !== undefined && (
        <Ask
          asked={asked}
          request={request}
          actions={actions}
          onClose={() => setAsked(undefined)}
        />
      )}
    </div>
  );
};

/** That nobody approved it, wherever it is shown. */
export const Bypassed = ({ bypass }: Pick<ChangeRequest, "bypass">) =>
  bypass && (
    <Alert
      color="red"
      variant="light"
      mb="lg"
      icon={<Icon name="warning" />}
      title={`Applied without an approval by ${actorText(bypass.actor)}`}
    >
      “{bypass.reason}”
    </Alert>
  );
