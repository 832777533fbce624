// Where the person is signed in: each session with its browser, and the button that ends it.
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { valueOrThrow } from "../api.ts";
import { StatusBadge } from "../components/display/status-badge.tsx";
import { Time } from "../components/display/time.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { notifyDone, notifyError } from "../components/feedback/notify.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { Section } from "../components/layout/section.tsx";
import { type ListedSession, useAccountCalls } from "./account-calls.ts";
import { describeAgent, describeMethod } from "./describe-agent.ts";

const queryKey = ["sessions"];
const refetchEvery = 15_000;

interface SessionRowProps {
  readonly session: ListedSession;
  readonly onEnd: () => void;
}

const SessionRow = ({ session, onEnd }: SessionRowProps) => {
  const { current, agent, address, method, createdAt, usedAt } = session;
  const browser = describeAgent(agent);
  return (
    <li className="account-row">
      <div className="account-row-words">
        <div>
          <strong>{browser}</strong>{" "}
          {current && <StatusBadge tone="good">this session</StatusBadge>}
        </div>
        <div className="dimmed">
          {address !== null && `from ${address}, `}signed in <Time at={createdAt} />{" "}
          {describeMethod(method)}, last used <Time at={usedAt} />
        </div>
      </div>
      {!current && (
        <Button
          variant="default"
          size="compact-sm"
          onClick={onEnd}
          aria-label={`End the session of ${browser}`}
        >
          End
        </Button>
      )}
    </li>
  );
};

export const SessionsSection = () => {
  const calls = useAccountCalls();
  const queries = useQueryClient();
  const query = useQuery({
    queryKey,
    queryFn: async () => valueOrThrow(await calls.sessions()),
    refetchInterval: refetchEvery,
  });
  const sessions = query.data;
  const end = async (id?: string) => {
    const result = await (id === undefined ? calls.endOtherSessions() : calls.endSession(id));
    if (result.ok) {
      notifyDone({
        title: "Sessions",
        message: id === undefined ? "All other sessions have ended." : "The session has ended.",
      });
    } else notifyError("The session was not ended", result.error);
    await queries.invalidateQueries({ queryKey });
  };
  return (
    <Section
      title="Sessions"
      aside={
        sessions !== undefined &&
        sessions.length > 1 && (
          <Button variant="default" size="xs" onClick={() => void end()}>
            End all others
          </Button>
        )
      }
    >
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={2} />}
      <ul className="account-rows" aria-label="Sessions">
        {sessions?.map((session) => (
          <SessionRow key={session.id} session={session} onEnd={() => void end(session.id)} />
        ))}
      </ul>
    </Section>
  );
};
