// The first script of the page. It is small: on a slow line the flags are on the screen before the application arrives.
import { beginRequests } from "./first-requests.ts";
import { failureScreen, firstScreen, hasFirstScreen, type Snapshot } from "./first-screen.ts";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no element with the id root");

const storageKey = "halyard-loaded";
/** Names this version of all files: the name of this one contains a hash that covers the others. */
const version = new URL(import.meta.url).pathname;

const snapshot = beginRequests();
let screen: HTMLElement | undefined;

const show = (next: HTMLElement | undefined): void => {
  screen?.remove();
  screen = next;
  if (next) document.body.append(next);
  // What lies below it cannot be used.
  root.inert = next !== undefined;
};

const showFlags = async (): Promise<void> => {
  const response = await snapshot;
  const flags = response?.ok ? ((await response.clone().json()) as Snapshot) : undefined;
  // Late ones must not cover the application.
  if (flags && flags.flags.length > 0 && screen) show(firstScreen(flags));
};

const isLoading = (): boolean =>
  root.childElementCount === 0 || root.querySelector('[aria-label="Loading"]') !== null;

/** The application has something of its own to show. */
const applicationShown = (): Promise<void> =>
  new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (isLoading()) return;
      observer.disconnect();
      resolve();
    });
    observer.observe(root, { childList: true, subtree: true });
  });

/** A server that does not answer must not hold back the application, which says so. */
const longestWait = 5_000;
const wait = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, longestWait));

const start = async (): Promise<void> => {
  // A browser that has loaded this version before has its files: they do not compete with the flags for the line.
  const isFirst = localStorage.getItem(storageKey) !== version;
  if (isFirst) show(firstScreen());
  if (isFirst && hasFirstScreen(location)) {
    await Promise.race([showFlags().catch(() => undefined), wait()]);
    // Beside the application, which would load it next.
    import("../pages/flags-page.tsx").catch(() => undefined);
  }
  const shown = applicationShown();
  await import("../app.tsx");
  localStorage.setItem(storageKey, version);
  if (isFirst) await Promise.race([shown, wait()]);
  show(undefined);
};

start().catch((cause: unknown) => {
  show(failureScreen(() => location.reload()));
  throw cause;
});
