// The addresses of the dashboard. Those that the router must not take as relative to the environment begin with ~.

export const inEnvironment = (name: string, path: string): string =>
  `~/environments/${name}${path}${location.search}`;

/** The same page of another environment. A webhook or a change request belongs to one: instead of its page comes the list. */
export const switchTo = (name: string, path: string): string => {
  const [, list] = /^\/(webhooks|change-requests)\//.exec(path) ?? [];
  return list === undefined ? inEnvironment(name, path) : `~/environments/${name}/${list}`;
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
