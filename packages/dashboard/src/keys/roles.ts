// The roles of API keys: what each may do and where to use it.
import type { Role } from "@halyard/sdk/management";

export const roles: readonly {
  readonly role: Role;
  readonly permissions: string;
  readonly usage: string;
}[] = [
  {
    role: "client",
    permissions: "evaluates flags for one user at a time",
    usage: "Safe in a web page or an app: it cannot read the definitions of flags.",
  },
  {
    role: "server",
    permissions: "reads flags, usage, history and deliveries, evaluates flags and follows changes",
    usage: "For your servers, and for people who only look. Read-only, and sees no secrets.",
  },
  {
    role: "editor",
    permissions: "reads what a server key does, and changes flags and segments",
    usage: "For automation that changes flags. Keep it secret, like a password.",
  },
  {
    role: "admin",
    permissions: "changes flags, segments, webhooks and keys of this environment",
    usage: "For people and automation. Keep it secret, like a password.",
  },
];
