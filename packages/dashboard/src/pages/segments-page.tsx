// The segments of the environment: search, who is in them, where they are used, create.
import { Button, Kbd, TextInput } from "@mantine/core";
import { useMemo, useRef } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { Icon } from "../components/display/icon.tsx";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { usePageKeys } from "../components/layout/page-keys.ts";
import { PageTitle } from "../components/layout/page-title.tsx";
import { useCreating } from "../components/layout/use-creating.ts";
import { formatNumber } from "../format.ts";
import type { LiveSegment } from "../live.ts";
import { useLiveState } from "../live-provider.tsx";
import { CreateSegment } from "../segments/create-segment.tsx";
import { countUses } from "../segments/segment-uses.ts";
import { flagsText, whoIsIn } from "../segments/segment-words.ts";
import { useApi } from "../session.tsx";
import "../styles/pages/segments.css";

const pathOf = (key: string): string => `/segments/${encodeURIComponent(key)}`;

const firstSegment = () => `curl -X POST ${location.origin}/api/v1/segments \\
  -H "Authorization: Bearer $HALYARD_API_KEY" -H "Content-Type: application/json" \\
  -d '{"key":"beta-testers","include":["user-7","user-8"]}'`;

/** Every word is somewhere in the key or the description, in any order. */
const matching = (segments: readonly LiveSegment[], text: string): readonly LiveSegment[] => {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return segments.filter(({ segment: { key, description } }) => {
    const searched = `${key} ${description ?? ""}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
};

export const SegmentsPage = () => {
  const { environment, mayChange } = useApi();
  const { segments, flags, status } = useLiveState();
  const [parameters, setParameters] = useSearchParams();
  const [, navigate] = useLocation();
  const [creating, setCreating] = useCreating();
  const search = useRef<HTMLInputElement>(null);
  const text = parameters.get("q") ?? "";
  const shown = useMemo(() => matching(segments, text), [segments, text]);
  const counts = useMemo(() => countUses(flags), [flags]);
  usePageKeys({
    "/": () => search.current?.focus(),
    c: () => mayChange && setCreating(true),
  });
  const isLoading = status === "connecting";
  const create = mayChange && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
      Create segment
    </Button>
  );
  const openFirst = () => {
    const first = shown[0];
    if (first) navigate(pathOf(first.segment.key));
  };
  return (
    <>
      <PageTitle
        title="Segments"
        description={isLoading ? "…" : `${formatNumber(segments.length)} in ${environment.name}`}
      >
        {create}
      </PageTitle>
      {isLoading && <RowsSkeleton rows={4} height={64} />}
      {!isLoading && segments.length === 0 && (
        <EmptyState
          title="No segments yet"
          {...(mayChange && { command: firstSegment(), action: create })}
        >
          A segment is a named group of people, by list or by condition. The rules of flags name it,
          so that a group is kept in one place.
        </EmptyState>
      )}
      {segments.length > 0 && (
        <>
          <search>
            <TextInput
              ref={search}
              type="search"
              aria-label="Search key or description"
              placeholder="Search key or description"
              leftSection={<Icon name="search" size={16} />}
              rightSection={text === "" ? <Kbd size="xs">/</Kbd> : undefined}
              rightSectionPointerEvents="none"
              value={text}
              onChange={(event) => {
                const q = event.currentTarget.value;
                setParameters(q === "" ? {} : { q }, { replace: true });
              }}
              onKeyDown={(event) => {
                if (event.key === "Escape") event.currentTarget.blur();
                if (event.key === "Enter") openFirst();
              }}
            />
          </search>
          <p className="flag-count dimmed" role="status">
            {shown.length < segments.length &&
              `${formatNumber(shown.length)} of ${formatNumber(segments.length)} segments`}
          </p>
          <ul className="segment-list" aria-label="Segments">
            {shown.map(({ segment }) => (
              <li key={segment.key} className="segment-row">
                <div className="segment-row-words">
                  <Link href={pathOf(segment.key)} className="segment-row-key mono">
                    {segment.key}
                  </Link>
                  <span className="dimmed">{segment.description ?? ""}</span>
                </div>
                <span>{whoIsIn(segment)}</span>
                <span className="dimmed">{flagsText(counts.get(segment.key) ?? 0)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <CreateSegment
        opened={creating && mayChange}
        onClose={() => setCreating(false)}
        onCreated={(key) => {
          setCreating(false);
          navigate(pathOf(key));
        }}
      />
    </>
  );
};
