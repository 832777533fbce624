// The author of a change: the person first, then the personal key if one was used.
import { actorText } from "@halyard/core/history/actor-text";
import type { Actor } from "@halyard/sdk/management";

/** The text of `actorText`, with the name emphasized. */
export const ActorName = ({ actor }: { readonly actor: Actor }) => {
  const name = actor.user?.name ?? actor.name;
  const key = actorText(actor).slice(name.length);
  return (
    <span>
      <strong>{name}</strong>
      {key !== "" && <span className="dimmed">{key}</span>}
    </span>
  );
};
