// Who makes a request, and what their role may do.

export const roles = ["client", "server", "admin"] as const;
export type Role = (typeof roles)[number];

/** Who history and events name. */
export interface Actor {
  readonly keyId: string | null;
  readonly name: string;
}

export interface EnvironmentRef {
  readonly id: number;
  readonly name: string;
}

/** The holder of an API key. */
export interface Principal {
  readonly keyId: string;
  readonly role: Role;
  readonly actor: Actor;
  readonly environment: EnvironmentRef;
  /** Null when the key does not expire. */
  readonly expiresAt: Date | null;
  /** The origins of the pages that may use the key; null for any client. */
  readonly origins: readonly string[] | null;
}

/** Who makes a change, where, and why if they say so. */
export interface Caller extends Pick<Principal, "actor" | "environment"> {
  readonly reason?: string | undefined;
}
/** What history and events tell of a caller. */
export type Author = Pick<Caller, "actor" | "reason">;

const all: readonly Role[] = roles;
const readers: readonly Role[] = ["server", "admin"];
const admins: readonly Role[] = ["admin"];

/** Which roles have which permission: the only such table. */
const rolesWith = {
  "flags.evaluate": all,
  "usage.report": all,
  "key.show": all,
  "flags.read": readers,
  "flags.follow": readers,
  "flags.explain": readers,
  "segments.read": readers,
  "usage.read": readers,
  "history.read": readers,
  /** Without what may carry a secret, for those who lack `webhooks.write`. */
  "webhooks.read": readers,
  "dashboard.use": readers,
  "flags.write": admins,
  "segments.write": admins,
  "webhooks.write": admins,
  "keys.read": admins,
  "keys.write": admins,
} as const satisfies Readonly<Record<string, readonly Role[]>>;

export type Permission = keyof typeof rolesWith;
export const permissions = Object.keys(rolesWith) as Permission[];

export const may = ({ role }: Pick<Principal, "role">, permission: Permission): boolean =>
  rolesWith[permission].some((each) => each === role);

/** The role to ask for when the permission is missing. */
export const leastRole = (permission: Permission): Role =>
  roles.find((role) => may({ role }, permission)) ?? "admin";

/** Changes made on the machine itself, with the `halyard` command, carry no key. */
export const operator: Actor = { keyId: null, name: "operator" };
