// The include and exclude lists of a segment: search in them, paste many keys, remove some.
import type { MemberList } from "@halyard/core/targeting/segment";
import { Button, Progress, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { valueOrThrow } from "../../api.ts";
import { ErrorMessage } from "../../components/feedback/error-message.tsx";
import { RowsSkeleton } from "../../components/feedback/skeletons.tsx";
import { Section } from "../../components/layout/section.tsx";
import { isFinished } from "../../flags/edit/flag-edits.tsx";
import { formatNumber } from "../../format.ts";
import type { LiveSegment } from "../../live.ts";
import { useApi } from "../../session.tsx";
import { type MembersChange, useSegmentEdits } from "../segment-edits.tsx";
import { AddMembers } from "./add-members.tsx";
import { ShownMembers } from "./shown-members.tsx";

interface Running {
  readonly change: MembersChange;
  readonly done: number;
  readonly stop: () => void;
}

const explanations: Readonly<Record<MemberList, string>> = {
  include: "Who is always in, whatever the condition says.",
  exclude: "Who is never in, whatever else is said. This list wins.",
};

const ChangeProgress = ({ running }: { readonly running: Running }) => {
  const { change, done, stop } = running;
  const { verb, members } = change;
  const text = `${formatNumber(done)} of ${formatNumber(members.length)} ${verb === "add" ? "added" : "removed"}`;
  return (
    <div className="members-progress">
      <Progress value={(done / members.length) * 100} aria-label={text} />
      <span role="status">{text}</span>
      <Button size="compact-sm" variant="default" onClick={stop}>
        Stop
      </Button>
    </div>
  );
};

export const MembersSection = ({ entry }: { readonly entry: LiveSegment }) => {
  const { management, environment, mayChange, proposes } = useApi();
  const { key, counts } = entry.segment;
  const edits = useSegmentEdits();
  const [list, setList] = useState<MemberList>("include");
  const [running, setRunning] = useState<Running | undefined>();
  const query = useQuery({
    queryKey: [environment.name, "segment", key, "members"],
    queryFn: async () => valueOrThrow(await management.segments.get(key)),
    // Not after each part: the list can be long.
    enabled: running === undefined,
  });
  const sets = useMemo(
    () => ({
      include: new Set(query.data?.include),
      exclude: new Set(query.data?.exclude),
    }),
    [query.data],
  );
  const change = async (verb: MembersChange["verb"], members: readonly string[]) => {
    const stop = new AbortController();
    const wanted = { list, verb, members };
    const show = (done: number) => setRunning({ change: wanted, done, stop: () => stop.abort() });
    show(0);
    const outcome = await edits.changeMembers(entry, wanted, {
      onProgress: show,
      signal: stop.signal,
    });
    setRunning(undefined);
    await query.refetch();
    // What was stopped stays in the form: what is in the list by now is told apart there.
    return isFinished(outcome) && !stop.signal.aborted;
  };
  const other = list === "include" ? "exclude" : "include";
  return (
    <Section title="People by list">
      <SegmentedControl
        aria-label="List"
        data={[
          { value: "include", label: `Include (${formatNumber(counts.include)})` },
          { value: "exclude", label: `Exclude (${formatNumber(counts.exclude)})` },
        ]}
        value={list}
        onChange={(next) => setList(next === "exclude" ? "exclude" : "include")}
        disabled={running !== undefined}
      />
      <p className="dimmed members-means">{explanations[list]}</p>
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={3} />}
      {running !== undefined && <ChangeProgress running={running} />}
      {query.data !== undefined && (
        <>
          {mayChange && (
            <AddMembers
              key={list}
              list={sets[list]}
              other={sets[other]}
              otherName={other}
              disabled={running !== undefined}
              addLabel={proposes ? "Propose" : "Add to the list"}
              onAdd={(members) => change("add", members)}
            />
          )}
          <ShownMembers
            key={`shown ${list}`}
            label={`Keys of the ${list} list`}
            members={query.data[list]}
            onRemove={
              mayChange && running === undefined
                ? async (members) => {
                    await change("remove", members);
                  }
                : undefined
            }
          />
        </>
      )}
    </Section>
  );
};
