// Who made a change: the person, and the key if it was made with one of theirs.
import type { Actor } from "@halyard/sdk";

/** As text, where there is room for one name. */
export const actorName = ({ name, user }: Actor): string => user?.name ?? name;

export const ActorName = ({ actor }: { readonly actor: Actor }) => (
  <>
    <strong>{actorName(actor)}</strong>
    {actor.user !== undefined && actor.keyId !== null && (
      <span className="dimmed">with the key {actor.name}</span>
    )}
  </>
);
