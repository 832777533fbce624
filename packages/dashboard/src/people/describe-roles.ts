// The roles of a person in words: "editor in development and production; viewer in staging".
import type { PersonRole } from "@halyard/sdk/management";
import { formatNumber } from "../format.ts";

const order: readonly PersonRole[] = ["admin", "editor", "viewer"];
const mostNames = 5;

const listed = (names: readonly string[]): string => {
  const shown = names.slice(0, mostNames);
  const rest = names.length - shown.length;
  if (rest > 0) return `${shown.join(", ")} and ${formatNumber(rest)} more`;
  const last = shown.pop();
  return shown.length === 0 ? `${last}` : `${shown.join(", ")} and ${last}`;
};

export const describeRoles = (roles: Readonly<Record<string, PersonRole>>): string =>
  order
    .map((role) => ({
      role,
      names: Object.keys(roles)
        .filter((name) => roles[name] === role)
        .sort(),
    }))
    .filter(({ names }) => names.length > 0)
    .map(({ role, names }) => `${role} in ${listed(names)}`)
    .join("; ");
