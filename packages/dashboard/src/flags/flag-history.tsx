// The history of a flag: what each version changed, with a button that restores it.
import { actorText } from "@halyard/core/history/actor-text";
import type { FlagHistoryEntry } from "@halyard/sdk/management";
import { Button } from "@mantine/core";
import { ActorName } from "../components/display/actor-name.tsx";
import { Reason } from "../components/display/reason.tsx";
import { Review } from "../components/display/review.tsx";
import { Time } from "../components/display/time.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { ShowOlder } from "../components/feedback/show-older.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { usePages } from "../components/feedback/use-pages.ts";
import { Section } from "../components/layout/section.tsx";
import { AsItWas } from "../history/as-it-was.tsx";
import type { LiveFlag } from "../live.ts";
import { useApi } from "../session.tsx";
import { canRestore } from "./edit/flag-change.ts";
import { FlagDiff } from "./edit/flag-diff.tsx";
import { useFlagEdits } from "./edit/flag-edits.tsx";

interface FlagHistoryProps {
  readonly flagKey: string;
  /** Undefined when the flag is deleted. */
  readonly entry: LiveFlag | undefined;
}

const pageSize = 20;

/** Refetched after every change of the flag. */
const useHistory = (flagKey: string) => {
  const { management, environment } = useApi();
  return usePages({
    queryKey: [environment.name, "flag", flagKey, "history"],
    pageSize,
    read: (page) => management.flags.history(flagKey, page),
  });
};

const labelOf = ({ before, after }: FlagHistoryEntry): string | undefined => {
  if (before === null) return "Created";
  return after === null ? "Deleted" : undefined;
};

interface EntryProps {
  readonly change: FlagHistoryEntry;
  readonly current: LiveFlag | undefined;
}

const Entry = ({ change, current }: EntryProps) => {
  const edits = useFlagEdits();
  const { mayChange } = useApi();
  const { after, before, version, revision, actor, createdAt, reason } = change;
  const label = labelOf(change);
  const isRestorable =
    mayChange &&
    after !== null &&
    (current === undefined || (version !== current.version && canRestore(current.flag, after)));
  return (
    <li className="history-entry">
      <div className="history-who">
        <ActorName actor={actor} />
        <span className="dimmed">
          <Time at={createdAt} />
        </span>
        <span className="dimmed">version {version}</span>
        {after !== null && version !== current?.version && (
          <AsItWas flagKey={after.key} revision={revision} />
        )}
      </div>
      <div>
        {label !== undefined && <div>{label}</div>}
        <Reason reason={reason} />
        <Review of={change} />
        {after !== null && <FlagDiff before={before} after={after} />}
      </div>
      {isRestorable && (
        <Button
          variant="default"
          size="compact-sm"
          onClick={() =>
            void (current === undefined ? edits.recreate(after) : edits.restore(current, after))
          }
          aria-label={`Restore this version (version ${version})`}
        >
          Restore this version
        </Button>
      )}
    </li>
  );
};

/** Who changed the flag last, and when. */
export const LastChanged = ({ flagKey }: { readonly flagKey: string }) => {
  const last = useHistory(flagKey).data?.pages[0]?.entries[0];
  if (last === undefined) return null;
  return (
    <>
      Last change: <Time at={last.createdAt} />, by {actorText(last.actor)}
    </>
  );
};

export const FlagHistory = ({ flagKey, entry }: FlagHistoryProps) => {
  const query = useHistory(flagKey);
  const entries = query.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <Section title="History">
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={3} />}
      <ol className="history">
        {entries.map((change) => (
          <Entry key={change.version} change={change} current={entry} />
        ))}
      </ol>
      <ShowOlder query={query} />
    </Section>
  );
};
