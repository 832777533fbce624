// The display name of a change's author: the user first, then the key.

/** The author of a change, as in history, events and change requests. */
export interface NamedActor {
  /** Null if no key was used. */
  readonly keyId: string | null;
  /** The name of the key or the user. */
  readonly name: string;
  readonly user?: { readonly name: string } | undefined;
}

/** Such as `Ada Lovelace (key cli)`. Without a user, the name alone: `ci`, `operator`. */
export const actorText = ({ keyId, name, user }: NamedActor): string => {
  if (!user) return name;
  return keyId === null ? user.name : `${user.name} (key ${name})`;
};
