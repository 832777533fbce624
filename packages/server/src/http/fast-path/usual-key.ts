// The key of a request whose head is as usual as can be; the short ways are for no others.
import type { IncomingHttpHeaders } from "node:http";

const scheme = "Bearer ";

/** Undefined when anything about it needs a closer look, which the framework's way then takes. */
export const usualKey = ({
  authorization,
  host,
  expect,
  "x-api-key": otherKey,
}: IncomingHttpHeaders): string | undefined =>
  authorization?.startsWith(scheme) &&
  otherKey === undefined &&
  host !== undefined &&
  expect === undefined
    ? authorization.slice(scheme.length)
    : undefined;
