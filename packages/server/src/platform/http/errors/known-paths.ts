// Every path and its methods, so that a wrong method is told from a wrong path.
import type { RouteOptions } from "fastify";

export interface KnownPaths {
  add(route: RouteOptions & { readonly routePath: string }): void;
  /** The methods of a path; none when there is nothing at it. */
  methodsOf(path: string): readonly string[];
}

export const collectPaths = (): KnownPaths => {
  const known = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  return {
    add({ url, method, routePath }) {
      const escaped = url.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*");
      // The root of a prefix answers with and without a slash, but is announced once.
      const end = routePath === "" ? "/?" : "";
      const pattern = new RegExp(`^${escaped.replace(/:[^/]+/g, "[^/]+")}${end}$`);
      const entry = known.get(url) ?? { pattern, methods: new Set<string>() };
      for (const name of [method].flat()) entry.methods.add(name);
      known.set(url, entry);
    },
    methodsOf(path) {
      const entries = [...known.values()].filter(({ pattern }) => pattern.test(path));
      return [...new Set(entries.flatMap(({ methods }) => [...methods]))].sort();
    },
  };
};
