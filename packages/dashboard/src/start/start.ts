// The first script of the page. It is small: on a slow line the flags are on the screen before the application arrives.
import { beginRequests } from "./first-requests.ts";
import { hasFirstScreen, showFirstScreen } from "./first-screen.ts";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no element with the id root");

const storageKey = "halyard-loaded";
/** Names this version of all files: the name of this one contains a hash that covers the others. */
const version = new URL(import.meta.url).pathname;

const snapshot = beginRequests();

const show = async (): Promise<void> => {
  const response = await snapshot;
  if (response?.ok) showFirstScreen(root, await response.clone().json());
};

/** A server that does not answer must not hold back the application, which says so. */
const longestWait = 5_000;

const start = async (): Promise<void> => {
  // A browser that has loaded this version before has its files: they do not compete with the flags for the line.
  if (localStorage.getItem(storageKey) !== version && hasFirstScreen(location)) {
    const wait = new Promise<void>((resolve) => setTimeout(resolve, longestWait));
    await Promise.race([show().catch(() => undefined), wait]);
    // Beside the application, which would load it next.
    import("../pages/flags-page.tsx").catch(() => undefined);
  }
  await import("../app.tsx");
  localStorage.setItem(storageKey, version);
};

start().catch((cause: unknown) => {
  const again = document.createElement("button");
  again.textContent = "Try again";
  again.addEventListener("click", () => location.reload());
  const message = document.createElement("p");
  message.append("The dashboard could not be loaded. ", again);
  message.className = "first-screen-failed";
  message.role = "alert";
  root.replaceChildren(message);
  throw cause;
});
