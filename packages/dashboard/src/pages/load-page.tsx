// A page that is loaded on first use; after an upgrade of the server, which has other files then, the browser reloads.

import { type ComponentType, lazy, type ReactNode, Suspense } from "react";
import { explain } from "../advice.ts";
import { notifyFailure } from "../components/feedback/notify.tsx";
import { UnknownPage } from "./unknown-page.tsx";

export interface Page {
  readonly path: string;
  readonly component: ComponentType;
  readonly load: () => Promise<unknown>;
}

/** Whether the server's page starts with another script than this one did. */
const isUpgraded = async (): Promise<boolean> => {
  const own = document.querySelector('script[type="module"]')?.getAttribute("src") ?? "";
  const answer = await fetch("/", { cache: "no-cache" });
  return answer.ok && !(await answer.text()).includes(own);
};

const storageKey = "halyard-reloaded";
/** While some servers have the old version and some the new, a reload may get either: it must not go on for ever. */
const reloadsAtMostEvery = 30_000;
const mayReload = (): boolean => {
  const last = Number(sessionStorage.getItem(storageKey) ?? 0);
  if (Date.now() - last < reloadsAtMostEvery) return false;
  sessionStorage.setItem(storageKey, String(Date.now()));
  return true;
};

export const loadOrReload = async <T,>(load: () => Promise<T>): Promise<T> => {
  try {
    return await load();
  } catch (cause) {
    if (!((await isUpgraded().catch(() => false)) && mayReload())) {
      throw new Error("A part of the dashboard could not be loaded.", { cause });
    }
    location.reload();
    // The reload ends the wait.
    return new Promise(() => {});
  }
};

/** For what somebody asks for by a button. When it cannot be loaded, a notice says so and the page stays as it is. */
export const loadOrNotify = async <T,>(load: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await loadOrReload(load);
  } catch (error) {
    const { message, advice } = explain(error);
    notifyFailure("Nothing was changed", `${message} ${advice}`);
    return undefined;
  }
};

export const page = <Name extends string>(
  path: string,
  name: Name,
  load: () => Promise<Readonly<Record<Name, ComponentType>>>,
): Page => ({
  path,
  load,
  component: lazy(async () => {
    const loaded: Readonly<Record<string, ComponentType>> = await loadOrReload(load);
    return { default: loaded[name] ?? UnknownPage };
  }),
});

/** A part of a page that is loaded on first use. */
export const loadedLater = <Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  fallback: ReactNode = null,
): ComponentType<Props> => {
  const Loaded = lazy(async () => ({ default: await loadOrReload(load) }));
  return (props) => (
    <Suspense fallback={fallback}>
      <Loaded {...props} />
    </Suspense>
  );
};
