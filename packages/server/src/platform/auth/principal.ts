// Who makes a request, and what their role may do.

/** From the least to the most; each may do what those before it may, but for `viewer`, which is for people what `server` is for programs. */
export const roles = ["client", "server", "viewer", "editor", "admin", "owner"] as const;
export type Role = (typeof roles)[number];

/** Of the API keys that an admin issues. Keys with the role owner are issued by the operator. */
export const keyRoles = ["client", "server", "editor", "admin"] as const satisfies readonly Role[];
export type KeyRole = (typeof keyRoles)[number] | "owner";

/** Of a person in an environment. An owner has theirs in every environment. */
export const personRoles = ["viewer", "editor", "admin"] as const satisfies readonly Role[];
export type PersonRole = (typeof personRoles)[number];

/** A person, as history and events name them. */
export interface UserRef {
  readonly id: string;
  readonly name: string;
}

export const isUserId = (text: string): boolean => /^usr_[0-9a-f]+$/.test(text);

/** Who history and events name. */
export interface Actor {
  /** Null for the operator, and for a person who is signed in. */
  readonly keyId: string | null;
  /** Of the key, or of the person who is signed in. */
  readonly name: string;
  /** The person who is signed in, or whose key it is; events tell their address when the operator wants it. */
  readonly user?: UserRef & { readonly email?: string };
}

/** What log lines name an actor by. */
export const whoIs = ({ keyId, name, user }: Actor): object => ({
  // A person who is signed in has no key.
  ...((keyId !== null || !user) && { keyId, keyName: name }),
  ...(user && { userId: user.id, userName: user.name }),
});

export interface EnvironmentRef {
  readonly id: number;
  readonly name: string;
}

/** Where a request came from, for the audit log. */
export interface RequestOrigin {
  readonly requestId: string;
  /** Of the client. */
  readonly address: string;
}

/** The holder of an API key, or a person within one environment. */
export interface Principal {
  /** Of the key, or of the person's access to the environment: what limits, streams and kept answers are counted by. */
  readonly keyId: string;
  readonly role: Role;
  readonly actor: Actor;
  readonly environment: EnvironmentRef;
  /** Null when the key does not expire. */
  readonly expiresAt: Date | null;
  /** The origins of the pages that may use the key; null for any client. */
  readonly origins: readonly string[] | null;
  /** Whether it changes a protected environment without a change request. */
  readonly writesDirectly?: boolean;
  /** The limit on flips of its changes, in percent. */
  readonly maxFlips?: number;
  /** Somebody who signed in too long ago for what is dangerous. */
  readonly isStale?: boolean;
  /** Set for requests that can change something. */
  readonly requestOrigin?: RequestOrigin;
}

/** Who makes a change, where, and why if they say so. */
export interface Caller
  extends Pick<Principal, "actor" | "environment" | "writesDirectly" | "maxFlips">,
    Pick<Principal, "isStale" | "requestOrigin">,
    Partial<Pick<Principal, "role">> {
  readonly reason?: string | undefined;
  /** An owner goes past the second person that a protected environment asks for. */
  readonly bypass?: boolean;
  /** Up to so many percent may flip, whatever the limits are. */
  readonly confirmFlips?: number;
}

/** Who the audit log names for a change, and from where. */
export type Requester = Pick<Caller, "actor" | "requestOrigin">;

/** How a change came into a protected environment. */
export interface Review {
  readonly changeRequest?: {
    readonly id: string;
    /** Their names, the person first: `Ada Lovelace (key cli)`. */
    readonly approvedBy: readonly string[];
  };
  /** The owner who went past the second person, and why. */
  readonly bypass?: { readonly actor: Actor; readonly reason: string };
}

/** What history and events tell of whoever made a change. */
export interface Author extends Pick<Caller, "actor" | "reason"> {
  readonly review?: Review | undefined;
}

const all: readonly Role[] = roles;
const readers: readonly Role[] = ["server", "viewer", "editor", "admin", "owner"];
const people: readonly Role[] = ["viewer", "editor", "admin", "owner"];
const editors: readonly Role[] = ["editor", "admin", "owner"];
const admins: readonly Role[] = ["admin", "owner"];
const owners: readonly Role[] = ["owner"];

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
  "clients.read": readers,
  "history.read": readers,
  /** Without what may carry a secret, for those who lack `webhooks.write`. */
  "webhooks.read": readers,
  "dashboard.use": readers,
  "environments.read": readers,
  "change-requests.read": readers,
  /** Of those who are signed in as themselves: their own keys alone. */
  "personal-keys.read": people,
  "personal-keys.write": people,
  "flags.write": editors,
  "flags.preview": editors,
  "segments.write": editors,
  /** To approve or refuse what somebody else proposes. */
  "change-requests.review": editors,
  /** The contexts that flags were evaluated for, which are about people. */
  "contexts.read": admins,
  "webhooks.write": admins,
  "keys.read": admins,
  "keys.write": admins,
  "environments.write": owners,
  "users.read": owners,
  "users.write": owners,
} as const satisfies Readonly<Record<string, readonly Role[]>>;

export type Permission = keyof typeof rolesWith;
export const permissions = Object.keys(rolesWith) as Permission[];

export const may = ({ role }: Pick<Principal, "role">, permission: Permission): boolean =>
  rolesWith[permission].some((each) => each === role);

/** What no key may do, whatever its role: only somebody who is signed in as themselves. */
const forPeople: readonly Permission[] = ["personal-keys.read", "personal-keys.write"];
export const isForPeople = (permission: Permission): boolean => forPeople.includes(permission);

export const rolesOf = (permission: Permission): readonly Role[] => rolesWith[permission];

export const permissionsOf = (role: Role): readonly Permission[] =>
  permissions.filter((permission) => may({ role }, permission));

/** What a person does only a short while after they have proved who they are: a browser left alone, or stolen, does not do it. */
const dangerous: readonly Permission[] = [
  "keys.write",
  "personal-keys.write",
  "users.write",
  "environments.write",
];
export const needsFreshSignIn = (permission: Permission): boolean => dangerous.includes(permission);

/** The role to ask for when the permission is missing. */
export const leastRole = (permission: Permission): Role =>
  roles.find((role) => may({ role }, permission)) ?? "owner";

/** The one of two that may do less. */
export const lesserRole = (one: Role, other: Role): Role =>
  roles.indexOf(one) <= roles.indexOf(other) ? one : other;

/** As it is kept and shown: addresses go nowhere but into the events, where the operator wants them. */
export const withoutAddress = ({ keyId, name, user }: Actor): Actor => ({
  keyId,
  name,
  ...(user && { user: { id: user.id, name: user.name } }),
});

/** What Halyard does by itself. */
export const halyard: Actor = { keyId: null, name: "halyard" };

/** Changes made on the machine itself, with the `halyard` command, carry no key. */
export const operator: Actor = { keyId: null, name: "operator" };
