// On the page of a flag or segment: the open requests that would change it.
import { actorText } from "@halyard/core/history/actor-text";
import { Alert, Anchor } from "@mantine/core";
import { Link } from "wouter";
import { Icon } from "../components/display/icon.tsx";
import { pathOfRequest } from "../proposal.ts";
import { useApi } from "../session.tsx";
import { touches } from "./change-request.ts";
import "../styles/pages/change-requests.css";
import { useOpenRequests } from "./open-requests.ts";

interface OpenRequestsOfProps {
  readonly kind: "flag" | "segment";
  readonly of: string;
}

const Requests = ({ kind, of }: OpenRequestsOfProps) => {
  const open = useOpenRequests().data?.filter((request) => touches(request, kind, of)) ?? [];
  if (open.length === 0) return null;
  return (
    <Alert
      variant="light"
      mb="lg"
      icon={<Icon name="proposal" />}
      title={`${open.length === 1 ? "A change of" : `${open.length} changes of`} this ${kind} ${open.length === 1 ? "waits" : "wait"} for an approval`}
    >
      <ul className="request-approvals">
        {open.map(({ id, title, author }) => (
          <li key={id}>
            <Anchor component={Link} href={pathOfRequest(id)} inherit>
              {title}
            </Anchor>{" "}
            by {actorText(author)}
          </li>
        ))}
      </ul>
    </Alert>
  );
};

/** Where nothing is proposed, nothing is asked for. */
export const OpenRequestsOf = (props: OpenRequestsOfProps) =>
  useApi().environment.protected ? <Requests {...props} /> : null;
