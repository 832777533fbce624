// Which page is shown at which path; each page is loaded on first use.
import { Suspense, useEffect, useRef } from "react";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { currentAddress, inEnvironment, pathOf, switchTo } from "./addresses.ts";
import { createSessionFetch, type Session } from "./api.ts";
import { ErrorBoundary } from "./components/feedback/error-boundary.tsx";
import { ErrorMessage } from "./components/feedback/error-message.tsx";
import { notifyDone } from "./components/feedback/notify.tsx";
import { PageSkeleton, ShellSkeleton } from "./components/feedback/skeletons.tsx";
import { draftsAt } from "./flags/edit/kept-drafts.ts";
import { LiveProvider } from "./live-provider.tsx";
import { loadedLater, type Page, page } from "./pages/load-page.tsx";
import { UnknownPage } from "./pages/unknown-page.tsx";
import { ApiProvider, lastEnvironment, useApi, useSession } from "./session.tsx";
import { Shell } from "./shell.tsx";

const signInPage = page("/sign-in", "SignInPage", () => import("./pages/sign-in-page.tsx"));
const invitationPage = page(
  "/invitation",
  "InvitationPage",
  () => import("./pages/people/invitation-page.tsx"),
);
const loadNoAccess = () => import("./pages/people/no-access-page.tsx");
const NoAccess = loadedLater(async () => (await loadNoAccess()).NoAccess, <PageSkeleton />);
const NoRole = loadedLater(async () => (await loadNoAccess()).NoRole, <PageSkeleton />);
const loadPrograms = () => import("./pages/programs-page.tsx");
const pages: readonly Page[] = [
  page("/flags", "FlagsPage", () => import("./pages/flags-page.tsx")),
  page("/flags/:key", "FlagPage", () => import("./pages/flag-page.tsx")),
  page("/segments", "SegmentsPage", () => import("./pages/segments-page.tsx")),
  page("/segments/:key", "SegmentPage", () => import("./pages/segment-page.tsx")),
  page("/compare", "ComparePage", () => import("./pages/compare-page.tsx")),
  page(
    "/evaluation-errors",
    "EvaluationErrorsPage",
    () => import("./pages/evaluation-errors-page.tsx"),
  ),
  page("/history", "HistoryPage", () => import("./pages/history-page.tsx")),
  page("/deleted-flags", "DeletedFlagsPage", () => import("./pages/history-page.tsx")),
  page("/webhooks", "WebhooksPage", () => import("./pages/webhooks-page.tsx")),
  page("/webhooks/:id", "WebhookPage", () => import("./pages/webhook-page.tsx")),
  page("/keys", "KeysPage", () => import("./pages/keys-page.tsx")),
  page("/events", "EventsPage", () => import("./pages/events-page.tsx")),
  page("/programs", "ProgramsPage", loadPrograms),
  page(
    "/change-requests",
    "ChangeRequestsPage",
    () => import("./pages/environments/change-requests-page.tsx"),
  ),
  page(
    "/change-requests/:id",
    "ChangeRequestPage",
    () => import("./pages/environments/change-request-page.tsx"),
  ),
  page(
    "/environments",
    "EnvironmentsPage",
    () => import("./pages/environments/environments-page.tsx"),
  ),
  page(
    "/environments/:name",
    "EnvironmentPage",
    () => import("./pages/environments/environments-page.tsx"),
  ),
  page("/people", "PeoplePage", () => import("./pages/people/people-page.tsx")),
  page("/account", "AccountPage", () => import("./pages/people/account-page.tsx")),
];

// Loaded in parallel with the session.
const opened = pathOf(location.pathname);
const first = opened === "/" ? "/flags" : opened;
const isFirst = ({ path }: Page): boolean =>
  new RegExp(`^${path.replace(/:\w+/, "[^/]+")}$`).test(first);
// When it fails, the route loads it again and shows the error.
pages
  .find(isFirst)
  ?.load()
  .catch(() => undefined);

const Pages = () => {
  const [path] = useLocation();
  const { environment } = useApi();
  return (
    <ErrorBoundary key={path} drafts={() => draftsAt(environment.name, path)}>
      <Suspense fallback={<PageSkeleton />}>
        <Switch>
          <Route path="/">
            <Redirect to="/flags" replace />
          </Route>
          {pages.map(({ path: at, component }) => (
            <Route key={at} path={at} component={component} />
          ))}
          <Route component={UnknownPage} />
        </Switch>
      </Suspense>
    </ErrorBoundary>
  );
};

interface EnvironmentProps {
  readonly session: Session;
  /** As the address names it. */
  readonly name: string;
}

const InEnvironment = ({ session, name }: EnvironmentProps) => {
  const environment = session.environments.find((each) => each.name === name);
  const other = lastEnvironment(session);
  const isPerson = Boolean(session.user);
  const [path, navigate] = useLocation();
  const shown = useRef<string | undefined>(undefined);
  const isSignedIn = environment !== undefined;
  useEffect(() => {
    if (isSignedIn) shown.current = name;
    else if (shown.current === name && other !== undefined) {
      // The user must notice that the environment changed.
      notifyDone({
        title: isPerson
          ? `You no longer have access to ${name}`
          : `You are no longer signed in to ${name}`,
        message: `You now see ${other}.`,
      });
      navigate(switchTo(other, path), { replace: true });
    }
  }, [isSignedIn, isPerson, name, other, path, navigate]);
  if (environment === undefined) return <NoAccess session={session} name={name} />;
  return (
    // The key resets all state when the environment changes.
    <ApiProvider key={name} environment={environment}>
      <LiveProvider>
        <Shell>
          <Pages />
        </Shell>
      </LiveProvider>
    </ApiProvider>
  );
};

const SignedIn = () => {
  const { session, loading, error, use } = useSession();
  useEffect(() => {
    use.onChanged = (environment, response) => {
      // With the page, since a file of its own would cut those of a first visit into more pieces.
      loadPrograms().then(
        ({ followArrival }) =>
          followArrival(environment, createSessionFetch(environment, use), response),
        // The change is made all the same.
        () => undefined,
      );
    };
  }, [use]);
  if (loading) return <ShellSkeleton />;
  if (session === undefined) {
    if (error !== null) return <ErrorMessage error={error} onRetry={() => location.reload()} />;
    const address = currentAddress();
    const next = address === "/" ? "" : `?next=${encodeURIComponent(address)}`;
    return <Redirect to={`/sign-in${next}`} replace />;
  }
  if (session.environments.length === 0) return <NoRole />;
  return (
    <Switch>
      <Route path="/environments/:environment" nest>
        {({ environment }) => <InEnvironment session={session} name={environment} />}
      </Route>
      <Route>
        {/* An address from before it named the environment. */}
        <Redirect to={inEnvironment(lastEnvironment(session) ?? "", location.pathname)} replace />
      </Route>
    </Switch>
  );
};

export const Routes = () => (
  <Switch>
    {[signInPage, invitationPage].map(({ path, component: Shown }) => (
      <Route key={path} path={path}>
        <Suspense fallback={<PageSkeleton />}>
          <Shown />
        </Suspense>
      </Route>
    ))}
    <Route>
      <SignedIn />
    </Route>
  </Switch>
);
