// The preview of an action on several flags.
import { Autocomplete, NativeSelect } from "@mantine/core";
import { useMemo, useState } from "react";
import type { LiveFlag } from "../live.ts";
import { useApi } from "../session.tsx";
import { type BulkAction, planBulk } from "./bulk-plan.ts";
import { PlanPreview } from "./plan-preview.tsx";
import { countOf } from "./plan-words.ts";

interface BulkDialogProps {
  readonly action: BulkAction;
  readonly entries: readonly LiveFlag[];
  /** Of all flags, to choose from. */
  readonly tags: readonly string[];
  readonly onClose: () => void;
  readonly onBegin: () => void;
}

const words: Readonly<
  Record<BulkAction, { readonly verb: string; readonly doing: string; readonly done: string }>
> = {
  on: { verb: "Turn on", doing: "Turning on", done: "Turned on" },
  off: { verb: "Turn off", doing: "Turning off", done: "Turned off" },
  delete: { verb: "Delete", doing: "Deleting", done: "Deleted" },
  addTag: { verb: "Tag", doing: "Adding the tag", done: "Tag added" },
  removeTag: { verb: "Remove the tag from", doing: "Removing the tag", done: "Tag removed" },
};

interface TagControlProps {
  readonly action: BulkAction;
  readonly tag: string;
  readonly tags: readonly string[];
  readonly onChange: (tag: string) => void;
}

const TagControl = ({ action, tag, tags, onChange }: TagControlProps) =>
  action === "addTag" ? (
    <Autocomplete
      label="Tag"
      data={[...tags]}
      value={tag}
      onChange={onChange}
      autoComplete="off"
      spellCheck={false}
      data-autofocus
    />
  ) : (
    <NativeSelect
      label="Tag"
      data={tags.length === 0 ? [{ value: "", label: "No flag of these has a tag" }] : [...tags]}
      value={tag}
      onChange={(event) => onChange(event.currentTarget.value)}
      data-autofocus
    />
  );

export const BulkDialog = ({ action, entries, tags, onClose, onBegin }: BulkDialogProps) => {
  const api = useApi();
  // As they were when the dialog opened: what changes meanwhile is a conflict, not a surprise.
  const [seen] = useState(entries);
  const hasTag = action === "addTag" || action === "removeTag";
  const [own] = useState(() => [...new Set(seen.flatMap(({ flag }) => flag.tags ?? []))].sort());
  const offered = action === "removeTag" ? own : tags;
  const [tag, setTag] = useState(action === "removeTag" ? (own[0] ?? "") : "");
  const wanted = tag.trim();
  const { plan, refused } = useMemo(
    () =>
      planBulk(
        action,
        wanted,
        seen.map(({ flag }) => flag),
      ),
    [action, wanted, seen],
  );
  const versions = useMemo(
    () => new Map(seen.map(({ flag, version }) => [flag.key, version])),
    [seen],
  );
  const { verb, doing, done } = words[action];
  const { name } = api.environment;
  return (
    <PlanPreview
      title={`${verb} ${countOf(seen.length, "flag")} in ${name}`}
      api={api}
      plan={hasTag && wanted === "" ? undefined : plan}
      refused={refused}
      versions={versions}
      verb={verb}
      doing={`${doing} in ${name}`}
      done={`${done} in ${name}`}
      danger={action === "delete" || (action === "off" && api.isProduction)}
      {...(action === "delete" && {
        notes: ["From now on your code gets its default values for these flags."],
      })}
      onClose={onClose}
      onBegin={onBegin}
      {...(hasTag && {
        controls: (
          <div className="plan-controls">
            <TagControl action={action} tag={tag} tags={offered} onChange={setTag} />
          </div>
        ),
      })}
    />
  );
};
