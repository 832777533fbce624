// The tags and the owner of a flag, with suggestions from the other flags.
import type { Flag } from "@halyard/core/flags/registry";
import { Autocomplete, TagsInput } from "@mantine/core";
import { useMemo } from "react";
import { ReadOnly } from "../../components/display/read-only.tsx";
import type { LiveFlag } from "../../live.ts";
import { useLiveState } from "../../live-provider.tsx";
import { useApi } from "../../session.tsx";
import { labelsOf } from "../list/flag-labels.ts";
import { DraftActions, DraftConflict, useDraft } from "./edit-draft.tsx";

interface Labels {
  readonly tags: readonly string[];
  readonly owner: string;
}

const labels = {
  name: "labels",
  read: ({ tags = [], owner = "" }: Flag): Labels => ({ tags, owner }),
  patchOf: ({ tags, owner }: Labels) => ({
    tags: tags.length === 0 ? null : tags,
    owner: owner.trim() === "" ? null : owner.trim(),
  }),
};

export const FlagLabels = ({ entry }: { readonly entry: LiveFlag }) => {
  const { mayChange } = useApi();
  const { flags } = useLiveState();
  const known = useMemo(() => labelsOf(flags), [flags]);
  const { value, draft, busy, edit, discard, onSubmit } = useDraft<Labels>(entry, labels);
  if (!mayChange && value.tags.length === 0 && value.owner === "") return null;
  if (!mayChange) {
    return (
      <div className="flag-labels">
        <ReadOnly label="Tags">{value.tags.join(", ")}</ReadOnly>
        <ReadOnly label="Owner">{value.owner}</ReadOnly>
      </div>
    );
  }
  return (
    <form className="flag-labels" onSubmit={onSubmit}>
      <TagsInput
        label="Tags"
        description="Enter or a comma after each"
        data={known.tags}
        value={[...value.tags]}
        onChange={(tags) => edit({ ...value, tags })}
        maxTags={20}
        clearable={false}
        disabled={busy}
      />
      <Autocomplete
        label="Owner"
        description="The person or team to ask"
        data={known.owners}
        value={value.owner}
        onChange={(owner) => edit({ ...value, owner })}
        maxLength={128}
        disabled={busy}
      />
      {draft !== undefined && (
        <div className="flag-labels-actions">
          <DraftConflict draft={draft} entry={entry} />
          <DraftActions saveLabel="Save tags and owner" busy={busy} onDiscard={discard} />
        </div>
      )}
    </form>
  );
};
