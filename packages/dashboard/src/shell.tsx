// The frame around every page: navigation, environment switcher, connection, theme and sign-out.
import { ActionIcon, Tooltip } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { type ReactNode, useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { OpenCount } from "./change-requests/open-count.tsx";
import { Icon } from "./components/display/icon.tsx";
import { EnvironmentSwitcher } from "./components/layout/environment-switcher.tsx";
import { KeyboardHelp } from "./components/layout/keyboard-help.tsx";
import { SignOut } from "./components/layout/sign-out.tsx";
import { ThemeMenu } from "./components/layout/theme-menu.tsx";
import { UserMenu } from "./components/layout/user-menu.tsx";
import type { LiveStatus } from "./live.ts";
import { useLiveState } from "./live-provider.tsx";
import type { Place } from "./palette/entries.ts";
import { Palette } from "./palette/palette.tsx";
import { useApi, useSession } from "./session.tsx";
import { FailingMark } from "./webhooks/failing-mark.tsx";

/** In the order of the keys Alt 1, Alt 2 and so on. */
const allPlaces: readonly Place[] = [
  { to: "/flags", label: "Flags", icon: "flag" },
  { to: "/segments", label: "Segments", icon: "people" },
  { to: "/compare", label: "Compare", icon: "compare" },
  { to: "/history", label: "History", icon: "history" },
  { to: "/webhooks", label: "Webhooks", icon: "webhook" },
  { to: "/keys", label: "Keys", icon: "key" },
  { to: "/events", label: "Events", icon: "pulse" },
  { to: "/people", label: "People", icon: "person", needs: "users.read" },
];

/** On a phone in the menu of the environment: the bar at the bottom is full. */
const programs: Place = {
  to: "/programs",
  label: "Programs",
  icon: "program",
  needs: "clients.read",
};
const requests: Place = { to: "/change-requests", label: "Requests", icon: "proposal" };
/** Not in the navigation: the list of flags leads to it. */
const evaluationErrors: Place = {
  to: "/evaluation-errors",
  label: "Evaluation errors",
  icon: "warning",
};
/** Not in the navigation: the environment switcher leads to it. */
const environments: Place = { to: "/environments", label: "Environments", icon: "screen" };

/** Those that one may see. Requests are made where changes need an approval. */
const usePlaces = (): readonly Place[] => {
  const { environment, may } = useApi();
  return [...allPlaces, ...(environment.protected ? [requests] : []), programs].filter(
    ({ needs }) => needs === undefined || may(needs),
  );
};

const Navigation = ({ places }: { readonly places: readonly Place[] }) => {
  const [path] = useLocation();
  const shown = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone there is not room for all.
    shown.current
      ?.querySelector(`[href$="/${path.split("/")[1]}"]`)
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [path]);
  return (
    <nav className="shell-navigation" aria-label="Pages" ref={shown}>
      {places.map(({ to, label, icon }) => (
        <Link
          key={to}
          href={to}
          className={to === programs.to ? "shell-place only-wide" : "shell-place"}
          aria-current={path === to || path.startsWith(`${to}/`) ? "page" : undefined}
        >
          <Icon name={icon} />
          <span>{label}</span>
          {to === "/webhooks" && <FailingMark />}
          {to === requests.to && <OpenCount />}
        </Link>
      ))}
    </nav>
  );
};

const statusLabels: Readonly<Record<LiveStatus, string>> = {
  connecting: "Connecting…",
  live: "Live",
  lost: "Connection lost, reconnecting…",
  refused: "Access denied: sign in again",
};

const Connection = () => {
  const { status } = useLiveState();
  return (
    <div className="shell-connection" data-status={status} role="status">
      <span className="shell-connection-dot" aria-hidden="true" />
      {statusLabels[status]}
    </div>
  );
};

const ProductionBand = () => {
  const { environment, isProduction, proposes } = useApi();
  if (!isProduction) return null;
  return (
    <section className="shell-production" aria-label="Environment">
      <Icon name={proposes ? "lock" : "warning"} />
      <strong>{environment.name.toUpperCase()}</strong>
      <span>
        {proposes
          ? "Changes need the approval of somebody else."
          : "Changes reach your users immediately."}
      </span>
    </section>
  );
};

export const Shell = ({ children }: { readonly children: ReactNode }) => {
  const { environment, isProduction } = useApi();
  const { session } = useSession();
  const places = usePlaces();
  const [path, navigate] = useLocation();
  const main = useRef<HTMLElement>(null);
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    // After navigation, keyboard focus moves to the new page.
    main.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [path]);
  useHotkeys(places.map(({ to }, index) => [`alt+${(index + 1) % 10}`, () => navigate(to)]));
  return (
    <div className="shell" data-production={isProduction || undefined}>
      <a className="shell-skip" href="#content">
        Skip to content
      </a>
      <ProductionBand />
      <header className="shell-side">
        <Link href="/flags" className="shell-brand" aria-label="Halyard, go to flags">
          <Icon name="halyard" size={22} />
          <span>Halyard</span>
        </Link>
        <EnvironmentSwitcher key={environment.name} />
        <Palette
          places={[
            ...places.filter((place) => place !== requests),
            ...[requests, evaluationErrors, environments],
          ]}
        />
        <Navigation places={places} />
        <div className="shell-foot">
          <Connection />
          <UserMenu />
          <div className="shell-tools">
            <KeyboardHelp places={places.map(({ label }) => label)} />
            <Tooltip label="API reference">
              <ActionIcon
                className="only-wide"
                component="a"
                href="/docs"
                variant="subtle"
                color="gray"
                size="lg"
                aria-label="API reference"
              >
                <Icon name="book" />
              </ActionIcon>
            </Tooltip>
            <ThemeMenu />
            {!session?.user && <SignOut />}
          </div>
        </div>
      </header>
      <main id="content" className="shell-main" ref={main} tabIndex={-1}>
        {children}
      </main>
    </div>
  );
};
