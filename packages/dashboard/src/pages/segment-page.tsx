// One segment: its description, condition and lists, where it is used, and its history.
import { Anchor, Button } from "@mantine/core";
import { useMemo, useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { OpenRequestsOf } from "../change-requests/open-requests-of.tsx";
import { CopyButton } from "../components/display/copy-button.tsx";
import { Icon } from "../components/display/icon.tsx";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { PageTitle } from "../components/layout/page-title.tsx";
import { Section } from "../components/layout/section.tsx";
import { useLiveState } from "../live-provider.tsx";
import { CreateSegment } from "../segments/create-segment.tsx";
import { MembersSection } from "../segments/members/members-section.tsx";
import { SegmentAbout } from "../segments/segment-about.tsx";
import { useSegmentEdits } from "../segments/segment-edits.tsx";
import { SegmentHistory } from "../segments/segment-history.tsx";
import { usesOf } from "../segments/segment-uses.ts";
import { whoIsIn } from "../segments/segment-words.ts";
import { useApi } from "../session.tsx";
import "../styles/pages/segments.css";

const WhereUsed = ({ segmentKey }: { readonly segmentKey: string }) => {
  const { flags } = useLiveState();
  const uses = useMemo(() => usesOf(flags, segmentKey), [flags, segmentKey]);
  return (
    <Section title="Where it is used">
      {uses.length === 0 ? (
        <p className="dimmed">No flag names this segment.</p>
      ) : (
        <ul className="segment-uses">
          {uses.map(({ flag, rules }) => (
            <li key={flag}>
              <Anchor component={Link} href={`/flags/${encodeURIComponent(flag)}`} className="mono">
                {flag}
              </Anchor>
              <span className="dimmed">
                {rules.length === 1 ? "rule " : "rules "}
                <span className="mono">{rules.join(", ")}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
};

const MissingSegment = ({ segmentKey }: { readonly segmentKey: string }) => {
  const { environment, mayChange } = useApi();
  const [creating, setCreating] = useState(false);
  const close = () => setCreating(false);
  return (
    <>
      <EmptyState
        title="Segment not found"
        action={mayChange && <Button onClick={() => setCreating(true)}>Create it here</Button>}
      >
        There is no segment <strong className="mono">{segmentKey}</strong> in {environment.name}.
      </EmptyState>
      <CreateSegment opened={creating} initialKey={segmentKey} onClose={close} onCreated={close} />
    </>
  );
};

export const SegmentPage = () => {
  const { key: segmentKey = "" } = useParams();
  const { segmentsByKey, status } = useLiveState();
  const { environment, mayChange } = useApi();
  const edits = useSegmentEdits();
  const [, navigate] = useLocation();
  const entry = segmentsByKey.get(segmentKey);
  const remove = async () => {
    if (entry && (await edits.remove(entry))) navigate("/segments");
  };
  return (
    <>
      <Anchor component={Link} href="/segments" className="back" underline="hover">
        <Icon name="back" size={16} /> All segments
      </Anchor>
      <PageTitle
        title={segmentKey}
        heading={
          <span className="flag-page-key">
            <span className="mono">{segmentKey}</span>
            <CopyButton text={segmentKey} what="key" />
          </span>
        }
        description={
          entry &&
          `Segment in ${environment.name}, version ${entry.version}: ${whoIsIn(entry.segment)}.`
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
      {entry === undefined && status === "connecting" && <RowsSkeleton />}
      {entry === undefined && status !== "connecting" && <MissingSegment segmentKey={segmentKey} />}
      {entry !== undefined && (
        <>
          <OpenRequestsOf kind="segment" of={segmentKey} />
          <SegmentAbout key={`about ${segmentKey}`} entry={entry} />
          <MembersSection key={`members ${segmentKey}`} entry={entry} />
          <WhereUsed segmentKey={segmentKey} />
        </>
      )}
      {status !== "connecting" && <SegmentHistory segmentKey={segmentKey} />}
    </>
  );
};
