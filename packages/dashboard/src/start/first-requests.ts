// Requests the session and the flags before anything else runs: on a slow line, waiting for one after the other takes long.

const storageKey = "halyard-environment";

/** For addresses that name no environment: the last one of this tab, or else of any. */
export const storeEnvironment = (name: string): void => {
  sessionStorage.setItem(storageKey, name);
  localStorage.setItem(storageKey, name);
};
export const storedEnvironment = (): string | null =>
  sessionStorage.getItem(storageKey) ?? localStorage.getItem(storageKey);
export const forgetEnvironment = (): void => {
  sessionStorage.removeItem(storageKey);
  localStorage.removeItem(storageKey);
};

/** Undefined when it failed: then it is simply requested again. */
type First = Promise<Response | undefined>;

/** After that the application requests it again, and reports what is wrong. */
const longestWait = 10_000;

const request = (path: string, headers: Readonly<Record<string, string>> = {}): First =>
  Promise.race([
    fetch(path, { headers, credentials: "same-origin" }).catch(() => undefined),
    new Promise<undefined>((resolve) => setTimeout(resolve, longestWait)),
  ]);

const first = new Map<string, First>();

/** The session, and the flags of the environment that the page will show if that is known. */
export const beginRequests = (): void => {
  first.set("/session", request("/session"));
  const { pathname } = location;
  const environment = /^\/environments\/([^/]+)/.exec(pathname)?.[1] ?? storedEnvironment();
  if (environment === null || pathname === "/sign-in") return;
  // As a page of this environment will request it, once the session is known to include it.
  const path = "/api/v1/snapshot";
  first.set(`${environment} ${path}`, request(path, { "x-halyard-environment": environment }));
};

const take = (name: string): First | undefined => {
  const response = first.get(name);
  first.delete(name);
  return response;
};

/** The first response, once; undefined when it must be requested. */
export const takeFirstSession = async (): Promise<Response | undefined> => take("/session");
export const takeFirst = async (environment: string, url: string): Promise<Response | undefined> =>
  take(`${environment} ${url.slice(location.origin.length)}`);
