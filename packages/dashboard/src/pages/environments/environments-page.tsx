// The environments that there are, for owners: create, open, and what each is like; and the settings of one of them.
import type { Environment } from "@halyard/sdk/management";
import { Anchor, Button } from "@mantine/core";
import { Link, useLocation, useParams } from "wouter";
import { switchTo } from "../../addresses.ts";
import { labelOf } from "../../components/display/environment-name.tsx";
import { Icon } from "../../components/display/icon.tsx";
import { StatusBadge } from "../../components/display/status-badge.tsx";
import { Time } from "../../components/display/time.tsx";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../../components/feedback/error-message.tsx";
import { RowsSkeleton } from "../../components/feedback/skeletons.tsx";
import { PageTitle } from "../../components/layout/page-title.tsx";
import { useCreating } from "../../components/layout/use-creating.ts";
import { CreateEnvironment } from "../../environments/create-environment.tsx";
import { useEnvironments } from "../../environments/environment-queries.ts";
import { EnvironmentSettings } from "../../environments/environment-settings.tsx";
import { formatNumber } from "../../format.ts";
import { useApi, useSession } from "../../session.tsx";
import "../../styles/pages/change-requests.css";
import "../../styles/pages/environments.css";

const OwnersOnly = () => (
  <>
    <PageTitle title="Environments" />
    <EmptyState title="For owners only">
      Owners create, protect and delete environments. Ask one of them, or whoever operates the
      server: <code className="mono">halyard environments</code> does the same.
    </EmptyState>
  </>
);

const Row = ({ environment }: { readonly environment: Environment }) => {
  const { name, label, flags, expiresAt, createdAt } = environment;
  const { environment: shown } = useApi();
  const { session } = useSession();
  const [path, navigate] = useLocation();
  const isMine = session?.environments.some((each) => each.name === name) === true;
  return (
    <li className="environment-row">
      <div>
        <div className="environment-row-head">
          <Link href={`/environments/${name}`} className="request-link">
            {labelOf(environment)}
          </Link>
          {label !== null && <span className="mono dimmed">{name}</span>}
          {environment.protected && (
            <StatusBadge tone="good">
              <Icon name="lock" size={12} /> protected
            </StatusBadge>
          )}
          {expiresAt !== null && (
            <StatusBadge tone="waiting">
              expires <Time at={expiresAt} />
            </StatusBadge>
          )}
        </div>
        <p className="dimmed">
          {formatNumber(flags)} {flags === 1 ? "flag" : "flags"}, created <Time at={createdAt} />
        </p>
      </div>
      {name === shown.name ? (
        <span className="dimmed">You are here</span>
      ) : (
        isMine && (
          <Button
            variant="default"
            size="compact-sm"
            aria-label={`Open ${name}`}
            onClick={() => navigate(switchTo(name, path))}
          >
            Open
          </Button>
        )
      )}
    </li>
  );
};

const Environments = () => {
  const query = useEnvironments();
  const [creating, setCreating] = useCreating();
  const environments = query.data ?? [];
  return (
    <>
      <PageTitle
        title="Environments"
        description={query.data && `${formatNumber(environments.length)} on this server`}
      >
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
          Create environment
        </Button>
      </PageTitle>
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={3} />}
      <ul className="request-list" aria-label="Environments">
        {environments.map((environment) => (
          <Row key={environment.name} environment={environment} />
        ))}
      </ul>
      <CreateEnvironment
        environments={environments}
        opened={creating}
        onClose={() => setCreating(false)}
      />
    </>
  );
};

const OneEnvironment = () => {
  const { name = "" } = useParams();
  const query = useEnvironments();
  const environment = query.data?.find((each) => each.name === name);
  return (
    <>
      <Anchor component={Link} href="/environments" className="back" underline="hover">
        <Icon name="back" size={16} /> All environments
      </Anchor>
      <PageTitle
        title={`Settings of ${environment === undefined ? name : labelOf(environment)}`}
        description={
          environment && (
            <>
              <span className="mono">{name}</span>
              {environment.protected && ", protected"}, {formatNumber(environment.flags)}{" "}
              {environment.flags === 1 ? "flag" : "flags"}
            </>
          )
        }
      />
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={3} />}
      {query.isSuccess && environment === undefined && (
        <EmptyState title="Environment not found">
          There is no environment <strong className="mono">{name}</strong>.
        </EmptyState>
      )}
      {environment !== undefined && <EnvironmentSettings key={name} environment={environment} />}
    </>
  );
};

export const EnvironmentsPage = () =>
  useApi().may("environments.write") ? <Environments /> : <OwnersOnly />;

export const EnvironmentPage = () =>
  useApi().may("environments.write") ? <OneEnvironment /> : <OwnersOnly />;
