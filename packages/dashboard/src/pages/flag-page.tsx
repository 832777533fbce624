// One flag: its settings, preview, usage, history, deliveries and code snippets.
import { Anchor, Button } from "@mantine/core";
import { Link, useLocation, useParams } from "wouter";
import { useHistoryState } from "wouter/use-browser-location";
import { OpenRequestsOf } from "../change-requests/open-requests-of.tsx";
import { CopyButton } from "../components/display/copy-button.tsx";
import { Icon } from "../components/display/icon.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { usePageKeys } from "../components/layout/page-keys.ts";
import { PageTitle } from "../components/layout/page-title.tsx";
import { useFlagEdits } from "../flags/edit/flag-edits.tsx";
import { FlagSettings } from "../flags/edit/flag-settings.tsx";
import { ErrorsOfFlag } from "../flags/errors/errors-of-flag.tsx";
import { FlagDeliveries } from "../flags/flag-deliveries.tsx";
import { FlagHistory, LastChanged } from "../flags/flag-history.tsx";
import { FlagSnippets } from "../flags/flag-snippets.tsx";
import { FlagTargeting } from "../flags/flag-targeting.tsx";
import { addressOfList } from "../flags/list/flag-filter.ts";
import { MissingFlag } from "../flags/missing-flag.tsx";
import { editorOf } from "../flags/types/type-editors.tsx";
import { FlagUsageChart } from "../flags/usage/flag-usage.tsx";
import { useLiveState } from "../live-provider.tsx";
import { useApi } from "../session.tsx";
import { RequirementsSection } from "../targeting/requirements/requirements-section.tsx";
import { TryItSection } from "../targeting/try-it/try-it-section.tsx";

const BackToList = () => (
  <Anchor component={Link} href={addressOfList()} className="back" underline="hover">
    <Icon name="back" size={16} /> All flags
  </Anchor>
);

export const FlagPage = () => {
  const { key: flagKey = "" } = useParams();
  const { byKey, status } = useLiveState();
  const { mayChange, environment } = useApi();
  const edits = useFlagEdits();
  const [, navigate] = useLocation();
  /** Right after a flag is created here, the code that uses it comes first. Not in the address, which environments share. */
  const isNew = useHistoryState<{ readonly created?: true } | null>()?.created === true;
  const entry = byKey.get(flagKey);
  const type = editorOf(entry?.flag.type ?? "");
  const toggle = () => {
    if (entry && mayChange) void edits.change(entry, { enabled: !entry.flag.enabled });
  };
  usePageKeys({ e: toggle });
  const remove = async () => {
    if (entry && (await edits.remove(entry))) navigate("/flags");
  };
  return (
    <>
      <BackToList />
      <PageTitle
        title={flagKey}
        heading={
          <span className="flag-page-key">
            <span className="mono">{flagKey}</span>
            <CopyButton text={flagKey} what="key" />
          </span>
        }
        description={
          entry && (
            <>
              {type.label} flag in {environment.name}, version {entry.version}.{" "}
              <LastChanged flagKey={flagKey} />
            </>
          )
        }
      >
        {entry !== undefined && mayChange && (
          <Button
            variant="default"
            leftSection={<Icon name="trash" size={16} />}
            onClick={() => void remove()}
          >
            Delete
          </Button>
        )}
      </PageTitle>
      <ErrorsOfFlag flagKey={flagKey} />
      {entry === undefined && status === "connecting" && <RowsSkeleton />}
      {entry === undefined && status !== "connecting" && <MissingFlag flagKey={flagKey} />}
      {entry !== undefined && (
        <>
          <OpenRequestsOf kind="flag" of={flagKey} />
          <FlagSettings key={flagKey} entry={entry} />
          {isNew && <FlagSnippets flag={entry.flag} />}
          <FlagTargeting entry={entry} />
          <TryItSection key={`try ${flagKey}`} flagKey={flagKey} />
          <RequirementsSection key={`requirements ${flagKey}`} entry={entry} />
          {type.Preview && <type.Preview flag={entry.flag} />}
          <FlagUsageChart flag={entry.flag} />
          <FlagHistory flagKey={flagKey} entry={entry} />
          <FlagDeliveries flagKey={flagKey} />
          {!isNew && <FlagSnippets flag={entry.flag} />}
        </>
      )}
    </>
  );
};
