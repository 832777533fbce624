// The display name of a change's author: the person first, then the key.

/** An actor, as history, events and change requests have it. */
export interface NamedActor {
  /** Null when no key was used. */
  readonly keyId: string | null;
  /** Of the key, or of the person. */
  readonly name: string;
  readonly user?: { readonly name: string } | undefined;
}

/** Such as `Ada Lovelace (key cli)`. Without a person, the name alone: `ci`, `operator`. */
export const actorText = ({ keyId, name, user }: NamedActor): string => {
  if (!user) return name;
  return keyId === null ? user.name : `${user.name} (key ${name})`;
};
