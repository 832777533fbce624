// The change requests of the environment, those that wait for an approval first.
import { actorText } from "@halyard/core/history/actor-text";
import type { ChangeRequestSummary } from "@halyard/sdk/management";
import { Select } from "@mantine/core";
import { Link, useSearchParams } from "wouter";
import { requestStates, toneOf } from "../../change-requests/change-request.ts";
import { useOpenRequests } from "../../change-requests/open-requests.ts";
import { useRequestPages } from "../../change-requests/request-queries.ts";
import { StatusBadge } from "../../components/display/status-badge.tsx";
import { Time } from "../../components/display/time.tsx";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../../components/feedback/error-message.tsx";
import { ShowOlder } from "../../components/feedback/show-older.tsx";
import { RowsSkeleton } from "../../components/feedback/skeletons.tsx";
import { PageTitle } from "../../components/layout/page-title.tsx";
import { formatFullDate } from "../../format.ts";
import { pathOfRequest } from "../../proposal.ts";
import { useApi } from "../../session.tsx";
import "../../styles/pages/change-requests.css";

const Row = ({ request }: { readonly request: ChangeRequestSummary }) => {
  const { id, title, state, moved, author, createdAt, applyAt, reason, bypass } = request;
  return (
    <li className="request-row">
      <div className="request-row-head">
        <Link href={pathOfRequest(id)} className="request-link">
          {title}
        </Link>
        <StatusBadge tone={toneOf(request)}>{state}</StatusBadge>
        {moved.length > 0 && <StatusBadge tone="bad">moved on</StatusBadge>}
        {bypass !== null && <StatusBadge tone="bad">without an approval</StatusBadge>}
      </div>
      {reason !== null && <p className="history-reason">“{reason}”</p>}
      <p className="dimmed">
        {actorText(author)}, <Time at={createdAt} />
        {state === "approved" && applyAt !== null && `, is applied at ${formatFullDate(applyAt)}`}
      </p>
    </li>
  );
};

const Nothing = ({ isFiltered }: { readonly isFiltered: boolean }) => {
  const { environment } = useApi();
  return (
    <EmptyState title={isFiltered ? "No such requests" : "No change requests yet"}>
      {isFiltered && "No request is in this state."}
      {!isFiltered &&
        (environment.protected
          ? `${environment.name} is protected: what you change here is proposed, and listed until somebody else has approved it.`
          : `${environment.name} is not protected: changes take effect at once. An owner can protect it.`)}
    </EmptyState>
  );
};

const isOpen = ({ state }: Pick<ChangeRequestSummary, "state">): boolean => state === "open";

export const ChangeRequestsPage = () => {
  const { environment } = useApi();
  const [parameters, setParameters] = useSearchParams();
  const state = requestStates.find((each) => each === parameters.get("state"));
  const query = useRequestPages(state);
  const open = useOpenRequests();
  const pages = query.data?.pages.flatMap((page) => page.entries) ?? [];
  // An old one that is still open must not be found on the last page.
  const shown =
    state === undefined ? [...(open.data ?? []), ...pages.filter((each) => !isOpen(each))] : pages;
  return (
    <>
      <PageTitle
        title="Change requests"
        description={`What people and programs propose to change in ${environment.name}, and what became of it`}
      />
      <search className="history-filters" aria-label="Filter the requests">
        <Select
          label="State"
          data={[
            { value: "all", label: "All, open first" },
            ...requestStates.map((value) => ({ value, label: value })),
          ]}
          value={state ?? "all"}
          allowDeselect={false}
          onChange={(value) =>
            setParameters(value === "all" ? {} : { state: value ?? "" }, { replace: true })
          }
        />
      </search>
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={4} />}
      {query.isSuccess && shown.length === 0 && <Nothing isFiltered={state !== undefined} />}
      {shown.length > 0 && (
        <ol className="request-list" aria-label="Change requests">
          {shown.map((request) => (
            <Row key={request.id} request={request} />
          ))}
        </ol>
      )}
      <ShowOlder query={query} />
    </>
  );
};
