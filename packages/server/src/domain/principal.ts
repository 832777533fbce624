// Who is asking, and what a role may do.

export const roles = ["client", "server", "admin"] as const;
export type Role = (typeof roles)[number];

export interface Principal {
  readonly keyId: string;
  readonly keyName: string;
  readonly role: Role;
  readonly environmentId: number;
  readonly environmentName: string;
}

export interface Actor {
  readonly keyId: string | null;
  readonly name: string;
}

/** Each role may do everything that the roles before it may. */
export const mayActAs = (role: Role, needed: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(needed);

export const actorOf = (principal: Principal): Actor => ({
  keyId: principal.keyId,
  name: principal.keyName,
});

/** Changes made at the machine itself, with the `halyard` command, carry no key. */
export const operator: Actor = { keyId: null, name: "operator" };
