// What can be done with the selected flags; each action shows a preview first.
import { Button } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import { SelectionBar } from "../../components/selection/selection-bar.tsx";
import type { Selection } from "../../components/selection/use-selection.ts";
import type { LiveFlag } from "../../live.ts";
import { loadOrNotify } from "../../pages/load-page.tsx";
import type { BulkAction } from "../../plans/bulk-plan.ts";
import { useApi, useApis } from "../../session.tsx";

const loadBulk = () => import("../../plans/bulk-dialog.tsx");
const loadCopy = () => import("../../plans/copy-dialog.tsx");
const BulkDialog = lazy(async () => ({ default: (await loadBulk()).BulkDialog }));
const CopyDialog = lazy(async () => ({ default: (await loadCopy()).CopyDialog }));

interface BulkBarProps {
  readonly selection: Selection;
  readonly flags: readonly LiveFlag[];
  readonly shown: readonly string[];
  /** To choose from. */
  readonly tags: readonly string[];
}

const actions: readonly (readonly [BulkAction, string])[] = [
  ["addTag", "Add tag"],
  ["removeTag", "Remove tag"],
  ["on", "Turn on"],
  ["off", "Turn off"],
  ["delete", "Delete"],
];

/** Whether flags can be selected here: something can be changed, or copied elsewhere. */
export const useMaySelect = (): boolean => useApis().some(({ mayChange }) => mayChange);

export const BulkBar = ({ selection, flags, shown, tags }: BulkBarProps) => {
  const { mayChange, environment } = useApi();
  const { name } = environment;
  const apis = useApis();
  const [asked, setAsked] = useState<BulkAction | "copy">();
  const { size } = selection.keys;
  const entries = size === 0 ? [] : flags.filter(({ flag }) => selection.keys.has(flag.key));
  const canCopy = apis.some((api) => api.mayChange && api.environment.name !== name);
  const close = () => setAsked(undefined);
  const ask = async (action: BulkAction | "copy") => {
    const loaded = await loadOrNotify<unknown>(action === "copy" ? loadCopy : loadBulk);
    if (loaded !== undefined) setAsked(action);
  };
  return (
    <>
      <SelectionBar selection={selection} what="flag" count={entries.length} shown={shown}>
        {mayChange &&
          actions.map(([action, label]) => (
            <Button
              key={action}
              size="compact-sm"
              variant="default"
              onClick={() => void ask(action)}
            >
              {label}
            </Button>
          ))}
        {canCopy && (
          <Button size="compact-sm" variant="default" onClick={() => void ask("copy")}>
            Copy to…
          </Button>
        )}
      </SelectionBar>
      <Suspense>
        {asked === "copy" && (
          <CopyDialog
            of="flag"
            keys={entries.map(({ flag }) => flag.key)}
            from={name}
            onClose={close}
            onBegin={selection.clear}
          />
        )}
        {asked !== undefined && asked !== "copy" && (
          <BulkDialog
            action={asked}
            entries={entries}
            tags={tags}
            onClose={close}
            onBegin={selection.clear}
          />
        )}
      </Suspense>
    </>
  );
};
