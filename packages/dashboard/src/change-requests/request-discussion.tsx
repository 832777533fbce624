// Who approved a request, what was said about it, and a field to say more.
import type { ChangeRequest } from "@halyard/sdk/management";
import { Button, Textarea } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ActorName } from "../components/display/actor-name.tsx";
import { StatusBadge } from "../components/display/status-badge.tsx";
import { Time } from "../components/display/time.tsx";
import { Section } from "../components/layout/section.tsx";
import { useApi } from "../session.tsx";
import { useRequestActions } from "./request-actions.ts";

export const maxCommentLength = 4_000;

export const Approvals = ({ request }: { readonly request: ChangeRequest }) =>
  request.approvals.length > 0 && (
    <Section title="Approvals">
      <ul className="request-approvals">
        {request.approvals.map(({ actor, at, state }) => (
          <li key={`${actor.user?.id ?? actor.keyId} ${at}`}>
            <StatusBadge tone={state === "given" ? "good" : "quiet"}>
              {state === "given" ? "approved" : "no longer counts"}
            </StatusBadge>{" "}
            <ActorName actor={actor} />{" "}
            <span className="dimmed">
              <Time at={at} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );

const CommentForm = ({ request }: { readonly request: ChangeRequest }) => {
  const { comment, busy } = useRequestActions(request);
  const [text, setText] = useState("");
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "" && (await comment(text.trim()))) setText("");
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Textarea
        label="Comment"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        maxLength={maxCommentLength}
        autosize
        minRows={2}
        maxRows={10}
      />
      <Button mt="sm" type="submit" variant="default" loading={busy} disabled={text.trim() === ""}>
        Send comment
      </Button>
    </form>
  );
};

export const Discussion = ({ request }: { readonly request: ChangeRequest }) => {
  const { may } = useApi();
  return (
    <Section title="Discussion">
      {request.comments.length === 0 && <p className="dimmed">Nobody has said anything yet.</p>}
      <ol className="request-comments" aria-live="polite">
        {request.comments.map(({ id, actor, at, text }) => (
          <li key={id}>
            <div className="history-who">
              <ActorName actor={actor} />
              <span className="dimmed">
                <Time at={at} />
              </span>
            </div>
            <p className="request-comment">{text}</p>
          </li>
        ))}
      </ol>
      {may("change-requests.review") && <CommentForm request={request} />}
    </Section>
  );
};
