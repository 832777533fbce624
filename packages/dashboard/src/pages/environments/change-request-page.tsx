// One change request: who wants to change what and why, what was said about it, and what comes next.
import { Anchor } from "@mantine/core";
import { Link, useParams } from "wouter";
import { ApiError } from "../../api.ts";
import { toneOf } from "../../change-requests/change-request.ts";
import { Bypassed, RequestDecision } from "../../change-requests/request-decision.tsx";
import { Approvals, Discussion } from "../../change-requests/request-discussion.tsx";
import { RequestOperations, RequestPreview } from "../../change-requests/request-operations.tsx";
import { useRequest } from "../../change-requests/request-queries.ts";
import { ActorName } from "../../components/display/actor-name.tsx";
import { Icon } from "../../components/display/icon.tsx";
import { StatusBadge } from "../../components/display/status-badge.tsx";
import { Time } from "../../components/display/time.tsx";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../../components/feedback/error-message.tsx";
import { RowsSkeleton } from "../../components/feedback/skeletons.tsx";
import { PageTitle } from "../../components/layout/page-title.tsx";
import { Section } from "../../components/layout/section.tsx";
import { useApi } from "../../session.tsx";
import "../../styles/pages/change-requests.css";

export const ChangeRequestPage = () => {
  const { id = "" } = useParams();
  const { environment } = useApi();
  const query = useRequest(id);
  const request = query.data;
  const isUnknown = query.error instanceof ApiError && query.error.failure.code === "NOT_FOUND";
  return (
    <>
      <Anchor component={Link} href="/change-requests" className="back" underline="hover">
        <Icon name="back" size={16} /> All change requests
      </Anchor>
      <PageTitle
        title={request?.title ?? "Change request"}
        description={
          request && (
            <>
              <StatusBadge tone={toneOf(request)}>{request.state}</StatusBadge> Proposed by{" "}
              <ActorName actor={request.author} /> <Time at={request.createdAt} /> in{" "}
              {environment.name}
            </>
          )
        }
      />
      {isUnknown && (
        <EmptyState title="Change request not found">
          There is no change request <strong className="mono">{id}</strong> in {environment.name}.
        </EmptyState>
      )}
      {query.error !== null && !isUnknown && (
        <ErrorMessage error={query.error} onRetry={query.refetch} />
      )}
      {query.isPending && <RowsSkeleton rows={4} />}
      {request !== undefined && !isUnknown && (
        <>
          <Bypassed bypass={request.bypass} />
          {request.reason !== null && <p className="history-reason">“{request.reason}”</p>}
          <RequestDecision request={request} />
          <Section title="Changes">
            <RequestPreview request={request} />
            <RequestOperations request={request} />
          </Section>
          <Approvals request={request} />
          <Discussion request={request} />
        </>
      )}
    </>
  );
};
