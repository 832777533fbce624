// The addresses of the dashboard. Those that the router must not take as relative to the environment begin with ~.

export const inEnvironment = (name: string, path: string, search = location.search): string =>
  `~/environments/${name}${path}${search}`;

/** The query parameters that apply in every environment. Revisions don't: each environment numbers its own. */
const sharedSearch = (): string => {
  const parameters = new URLSearchParams(location.search);
  parameters.delete("revision");
  return parameters.size === 0 ? "" : `?${parameters}`;
};

/** The same page of another environment. A webhook or a change request belongs to one: instead of its page comes the list. */
export const switchTo = (name: string, path: string): string => {
  const [, list] = /^\/(webhooks|change-requests)\//.exec(path) ?? [];
  return list === undefined
    ? inEnvironment(name, path, sharedSearch())
    : `~/environments/${name}/${list}`;
};

/** The address shown now, to come back to. */
export const currentAddress = (): string => location.pathname + location.search;

/** The page that signs in with one more key and returns to the page shown now. */
export const signInFrom = (): string =>
  `~/sign-in?add=1&next=${encodeURIComponent(currentAddress())}`;

/** The name of the environment in the address. */
export const environmentShown = (): string | undefined =>
  /^\/environments\/([^/]+)/.exec(location.pathname)?.[1];

/** The path within its environment. */
export const pathOf = (pathname: string): string =>
  pathname.replace(/^\/environments\/[^/]+/, "") || "/";
