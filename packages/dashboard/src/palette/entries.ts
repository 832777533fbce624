// What the palette offers: pages, environments, webhooks, actions, segments and flags, what was used last first.
import { useMantineColorScheme } from "@mantine/core";
import { useMemo } from "react";
import { useLocation, useRoute } from "wouter";
import { signInFrom, switchTo } from "../addresses.ts";
import { copyText } from "../components/display/copy-button.tsx";
import type { IconName } from "../components/display/icon.tsx";
import { notifyDone, notifyFailure } from "../components/feedback/notify.tsx";
import { useSignOut } from "../components/layout/sign-out.tsx";
import { themes } from "../components/layout/theme-menu.tsx";
import { addressToCreate } from "../components/layout/use-creating.ts";
import { useFlagEdits } from "../flags/edit/flag-edits.tsx";
import { useLiveState } from "../live-provider.tsx";
import { useApi, useSession } from "../session.tsx";
import { useWebhooks } from "../webhooks/webhook-queries.ts";
import { type Prepared, prepare } from "./rank.ts";
import { recentOf } from "./recent.ts";

/** A page of the navigation. */
export interface Place {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  /** The permission of those who have it. */
  readonly needs?: string;
}

export interface Entry {
  readonly id: string;
  readonly kind: "action" | "page" | "environment" | "webhook" | "segment" | "flag";
  readonly label: string;
  readonly icon: IconName;
  readonly name: Prepared;
  /** The element is one that has the focus. */
  readonly run: (focused: HTMLElement) => void;
}

type NewEntry = Omit<Entry, "id" | "name">;

/** Found by `words`: its label unless given. */
const entry = (it: NewEntry, words = it.label): Entry => ({
  ...it,
  id: `${it.kind} ${it.label}`,
  name: prepare(words),
});

/** Names are taken apart once, not each time that the palette opens. */
const prepared = new WeakMap<object, Prepared>();
const preparedOf = (it: object, key: string): Prepared => {
  const known = prepared.get(it) ?? prepare(key);
  prepared.set(it, known);
  return known;
};

const useFlagActions = (): readonly Entry[] => {
  const [, parameters] = useRoute("/flags/:key");
  const { byKey } = useLiveState();
  const { mayChange } = useApi();
  const edits = useFlagEdits();
  const shown = byKey.get(parameters?.key ?? "");
  if (shown === undefined) return [];
  const { key, enabled } = shown.flag;
  const copy = async (focused: HTMLElement) => {
    if (await copyText(key, focused)) notifyDone({ title: key, message: "Copied." });
    else notifyFailure(key, "Copying failed: select the text and copy it.");
  };
  return [
    ...(mayChange
      ? [
          // Not by its key: who types that wants to go there, or elsewhere.
          entry(
            {
              kind: "action",
              label: `Turn ${key} ${enabled ? "off" : "on"}`,
              icon: enabled ? "pause" : "play",
              run: () => void edits.change(shown, { enabled: !enabled }),
            },
            `turn this flag ${enabled ? "off disable" : "on enable"} toggle`,
          ),
        ]
      : []),
    entry(
      {
        kind: "action",
        label: `Copy the key ${key}`,
        icon: "copy",
        run: (focused) => void copy(focused),
      },
      "copy the key of this flag clipboard",
    ),
  ];
};

const useActions = (): readonly Entry[] => {
  const [path, navigate] = useLocation();
  const { mayChange, may } = useApi();
  const { session } = useSession();
  const isPerson = Boolean(session?.user);
  const { setColorScheme } = useMantineColorScheme();
  const signOut = useSignOut();
  const flagActions = useFlagActions();
  const create = (what: string, page: string): Entry =>
    entry(
      {
        kind: "action",
        label: `Create ${what}`,
        icon: "plus",
        run: () => navigate(addressToCreate(page, path)),
      },
      `create ${what} new add`,
    );
  return [
    ...flagActions,
    ...(mayChange ? [create("flag", "/flags"), create("segment", "/segments")] : []),
    ...(may("webhooks.write") ? [create("webhook", "/webhooks")] : []),
    ...(may("keys.write") ? [create("key", "/keys")] : []),
    ...(may("environments.write") ? [create("environment", "/environments")] : []),
    ...themes.map(({ value, label, icon }) =>
      entry(
        { kind: "action", label: `Theme: ${label}`, icon, run: () => setColorScheme(value) },
        `theme ${label} mode colors`,
      ),
    ),
    isPerson
      ? entry(
          { kind: "page", label: "Account", icon: "person", run: () => navigate("/account") },
          "account password second factor sessions personal keys",
        )
      : entry({
          kind: "action",
          label: "Sign in to another environment",
          icon: "plus",
          run: () => navigate(signInFrom()),
        }),
    entry(
      { kind: "action", label: "Sign out", icon: "leave", run: () => void signOut() },
      "sign out log logout",
    ),
  ];
};

export const useEntries = (places: readonly Place[]): readonly Entry[] => {
  const [path, navigate] = useLocation();
  const { environment } = useApi();
  const { session } = useSession();
  const { flags, segments } = useLiveState();
  const webhooks = useWebhooks().data;
  const actions = useActions();

  const flagEntries = useMemo(
    () =>
      flags.map((live): Entry => {
        const { key } = live.flag;
        const run = () => navigate(`/flags/${encodeURIComponent(key)}`);
        const name = preparedOf(live, key);
        return { id: `flag ${key}`, kind: "flag", label: key, icon: "flag", name, run };
      }),
    [flags, navigate],
  );
  const segmentEntries = useMemo(
    () =>
      segments.map(({ segment: { key } }) =>
        entry({
          kind: "segment",
          label: key,
          icon: "people",
          run: () => navigate(`/segments/${encodeURIComponent(key)}`),
        }),
      ),
    [segments, navigate],
  );
  const others: readonly Entry[] = [
    ...places.map(({ to, label, icon }) =>
      entry({ kind: "page", label, icon, run: () => navigate(to) }),
    ),
    entry(
      {
        kind: "page",
        label: "API reference",
        icon: "book",
        run: () => location.assign("/docs"),
      },
      "api reference docs documentation",
    ),
    ...(session?.environments ?? [])
      .filter(({ name }) => name !== environment.name)
      .map(({ name, label }) =>
        entry(
          {
            kind: "environment",
            label: label ? `${label} (${name})` : name,
            icon: "screen",
            run: () => navigate(switchTo(name, path)),
          },
          `${name} ${label ?? ""} switch to environment`,
        ),
      ),
    ...(webhooks ?? []).map(({ id, url }) =>
      entry({
        kind: "webhook",
        label: url,
        icon: "webhook",
        run: () => navigate(`/webhooks/${id}`),
      }),
    ),
    // Last, so that Enter alone changes nothing.
    ...actions,
  ];
  const all = [...others, ...segmentEntries, ...flagEntries];
  const recent = recentOf(environment.name);
  if (recent.length === 0) return all;
  const isRecent = new Set(recent);
  const found = new Map<string, Entry>();
  for (const each of all) if (isRecent.has(each.id)) found.set(each.id, each);
  return [
    ...recent.flatMap((id) => found.get(id) ?? []),
    ...all.filter(({ id }) => !isRecent.has(id)),
  ];
};
