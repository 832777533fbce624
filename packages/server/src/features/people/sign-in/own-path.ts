// Where somebody goes after they have signed in: a path of this server, and nothing that a browser takes for another host.

const maxLength = 1_000;
const base = "https://halyard.invalid";

/** The path as a browser understands it; `/` when it is none of ours. */
export const ownPath = (text: unknown): string => {
  if (typeof text !== "string" || !text.startsWith("/") || text.length > maxLength) return "/";
  const url = URL.parse(text, base);
  if (url?.origin !== base) return "/";
  const path = url.pathname + url.search + url.hash;
  // "/.//other.example" is written "//other.example" here, which names a host.
  return path.startsWith("//") ? "/" : path;
};
