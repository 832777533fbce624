// Which page is shown at which path; each page is loaded on first use.
import { type ComponentType, lazy, type ReactNode, Suspense } from "react";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { EmptyState } from "./components/feedback/empty-state.tsx";
import { ErrorBoundary } from "./components/feedback/error-boundary.tsx";
import { ErrorMessage } from "./components/feedback/error-message.tsx";
import { PageSkeleton } from "./components/feedback/skeletons.tsx";
import { LiveProvider } from "./live-provider.tsx";
import { ApiProvider, useSession } from "./session.tsx";
import { Shell } from "./shell.tsx";

const Unknown = () => (
  <EmptyState title="Page not found">
    This page does not exist. Choose a page from the navigation.
  </EmptyState>
);

interface Page {
  readonly path: string;
  readonly component: ComponentType;
  readonly load: () => Promise<unknown>;
}

const page = <Name extends string>(
  path: string,
  name: Name,
  load: () => Promise<Readonly<Record<Name, ComponentType>>>,
): Page => ({
  path,
  load,
  component: lazy(async () => {
    const loaded: Readonly<Record<string, ComponentType>> = await load();
    return { default: loaded[name] ?? Unknown };
  }),
});

const signInPage = page("/sign-in", "SignInPage", () => import("./pages/sign-in-page.tsx"));
const pages: readonly Page[] = [
  page("/flags", "FlagsPage", () => import("./pages/flags-page.tsx")),
  page("/flags/:key", "FlagPage", () => import("./pages/flag-page.tsx")),
  page("/webhooks", "WebhooksPage", () => import("./pages/webhooks-page.tsx")),
  page("/webhooks/:id", "WebhookPage", () => import("./pages/webhook-page.tsx")),
  page("/keys", "KeysPage", () => import("./pages/keys-page.tsx")),
  page("/events", "EventsPage", () => import("./pages/events-page.tsx")),
];

// Loaded in parallel with the session.
const first = location.pathname === "/" ? "/flags" : location.pathname;
for (const { path, load } of pages) {
  const pattern = new RegExp(`^${path.replace(/:\w+/, "[^/]+")}$`);
  // When this fails, the route loads it again and shows the error.
  if (pattern.test(first)) load().catch(() => undefined);
}

const SignedIn = ({ children }: { readonly children: ReactNode }) => {
  const { session, environment, loading, error } = useSession();
  const [path] = useLocation();
  if (loading) return <PageSkeleton />;
  if (session === undefined || environment === undefined) {
    if (error !== null) return <ErrorMessage error={error} />;
    const next = path === "/" ? "" : `?next=${encodeURIComponent(path)}`;
    return <Redirect to={`/sign-in${next}`} replace />;
  }
  return (
    // The key resets all state when the environment changes.
    <ApiProvider key={environment.name} session={session} environment={environment}>
      <LiveProvider>
        <Shell>{children}</Shell>
      </LiveProvider>
    </ApiProvider>
  );
};

const Pages = () => {
  const [path] = useLocation();
  return (
    <ErrorBoundary key={path}>
      <Suspense fallback={<PageSkeleton />}>
        <Switch>
          <Route path="/">
            <Redirect to="/flags" replace />
          </Route>
          {pages.map(({ path: at, component }) => (
            <Route key={at} path={at} component={component} />
          ))}
          <Route component={Unknown} />
        </Switch>
      </Suspense>
    </ErrorBoundary>
  );
};

export const Routes = () => (
  <Switch>
    <Route path="/sign-in">
      <Suspense fallback={<PageSkeleton />}>
        <signInPage.component />
      </Suspense>
    </Route>
    <Route>
      <SignedIn>
        <Pages />
      </SignedIn>
    </Route>
  </Switch>
);
