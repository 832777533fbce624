// Environments side by side: what differs, and copying from one to another. Or one environment at two times.

import { Button, Checkbox, NativeSelect, SegmentedControl, TextInput } from "@mantine/core";
import { lazy, Suspense, useDeferredValue, useMemo, useRef, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { signInFrom } from "../addresses.ts";
import { type Compared, matching, rowDiffers, rowsOf } from "../compare/compare-rows.ts";
import { CompareTable } from "../compare/compare-table.tsx";
import { DifferenceDialog } from "../compare/difference-dialog.tsx";
import { useEnvironmentStates } from "../compare/environment-snapshots.ts";
import { Icon } from "../components/display/icon.tsx";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { usePageKeys } from "../components/layout/page-keys.ts";
import { PageTitle } from "../components/layout/page-title.tsx";
import { useParameters } from "../components/layout/use-parameters.ts";
import { SelectionBar } from "../components/selection/selection-bar.tsx";
import { useSelection } from "../components/selection/use-selection.ts";
import { formatNumber } from "../format.ts";
import { type Copy, CopyDialog } from "../plans/copy-dialog.tsx";
import { useApi, useApis } from "../session.tsx";
import { loadOrReload } from "./load-page.tsx";
import "../compare/compare.css";

const TwoTimes = lazy(async () => {
  const loaded = await loadOrReload(() => import("../compare/two-times.tsx"));
  return { default: loaded.TwoTimes };
});

const AnotherEnvironment = () => (
  <EmptyState
    title="There is only one environment to show"
    action={
      <Button component={Link} href={signInFrom()}>
        Sign in to another environment
      </Button>
    }
  >
    To compare, sign in to a second environment with one of its keys. You stay signed in to this
    one. A server key is enough to read; copying to an environment needs one of its admin keys.
  </EmptyState>
);

const kinds = [
  { value: "flag", label: "Flags" },
  { value: "segment", label: "Segments" },
];

/** Of the address: `base`, `kind`, `q`, `differs` (any, or the name of an environment). */
const useCompareFilter = (names: readonly string[], current: string) => {
  const [parameters, set] = useParameters();
  const known = (name: string | null) => names.find((each) => each === name);
  const differs = parameters.get("differs");
  const base = known(parameters.get("base")) ?? current;
  return {
    text: parameters.get("q") ?? "",
    kind: (parameters.get("kind") === "segment" ? "segment" : "flag") as Compared,
    base,
    /** Undefined for rows that differ or not. */
    differs: differs === "any" || differs === base ? "any" : known(differs),
    set,
  };
};

const Comparison = () => {
  const { environment } = useApi();
  const apis = useApis();
  const views = useEnvironmentStates(apis);
  const names = useMemo(() => apis.map((api) => api.environment.name), [apis]);
  const filter = useCompareFilter(names, environment.name);
  const { kind, base, set } = filter;
  const others = useMemo(() => names.filter((name) => name !== base), [names, base]);
  const search = useRef<HTMLInputElement>(null);
  usePageKeys({ "/": () => search.current?.focus() });

  const rows = useMemo(
    () => rowsOf(kind, new Map(views.map(({ api, state }) => [api.environment.name, state]))),
    [kind, views],
  );
  const text = useDeferredValue(filter.text);
  const isKnown = views.every(({ state, error }) => state !== undefined || error !== null);
  const counts = useMemo(() => {
    const countOf = (name: string) => rows.filter((row) => rowDiffers(row, base, [name])).length;
    return new Map(others.map((name) => [name, countOf(name)]));
  }, [rows, base, others]);
  const against = filter.differs;
  const different = useMemo(() => {
    if (against === undefined) return rows;
    const where = against === "any" ? others : [against];
    return rows.filter((row) => rowDiffers(row, base, where));
  }, [rows, base, others, against]);
  const shown = useMemo(() => matching(different, text), [different, text]);
  const keys = useMemo(() => shown.map(({ key }) => key), [shown]);
  const selection = useSelection(keys);
  const chosen = rows.filter(({ key, values }) => selection.keys.has(key) && values.has(base));
  const targets = apis.filter((api) => api.mayChange && api.environment.name !== base);
  const [opened, setOpened] = useState<{ readonly key: string; readonly to: string }>();
  const [copy, setCopy] = useState<Copy>();
  const row = opened && rows.find(({ key }) => key === opened.key);
  const what = kind === "flag" ? "flag" : "segment";

  const open = (key: string, name: string) => {
    const values = rows.find((each) => each.key === key);
    const first = others.find((other) => values && rowDiffers(values, base, [other])) ?? others[0];
    setOpened({ key, to: name === base ? (first ?? base) : name });
  };
  return (
    <>
      <search className="flag-filters">
        <TextInput
          ref={search}
          className="flag-search"
          type="search"
          aria-label="Search key or description"
          placeholder="Search key or description"
          leftSection={<Icon name="search" size={16} />}
          value={filter.text}
          onChange={(event) => set("q", event.currentTarget.value)}
        />
        <SegmentedControl
          aria-label="What to compare"
          data={kinds}
          value={kind}
          onChange={(value) => {
            selection.clear();
            set("kind", value === "segment" ? value : "");
          }}
        />
        <Checkbox
          label="Only what differs"
          checked={filter.differs !== undefined}
          onChange={(event) => set("differs", event.currentTarget.checked ? "any" : "")}
        />
        {filter.differs !== undefined && others.length > 1 && (
          <NativeSelect
            aria-label="Differs in"
            data={[{ value: "any", label: "in any environment" }, ...others]}
            value={filter.differs}
            onChange={(event) => set("differs", event.currentTarget.value)}
          />
        )}
      </search>
      {views.map(
        ({ api, error }) =>
          error !== null && (
            <ErrorMessage
              key={api.environment.name}
              error={error}
              title={`${api.environment.name} could not be read`}
            />
          ),
      )}
      <p className="flag-count dimmed" role="status">
        {isKnown && `${formatNumber(shown.length)} of ${formatNumber(rows.length)} ${what}s`}
      </p>
      {targets.length > 0 && (
        <SelectionBar selection={selection} what={what} count={chosen.length} shown={keys}>
          <Button
            size="compact-sm"
            onClick={() => setCopy({ of: kind, keys: chosen.map(({ key }) => key), from: base })}
          >
            Copy from {base} to…
          </Button>
        </SelectionBar>
      )}
      {!isKnown && <RowsSkeleton rows={8} height={60} />}
      {isKnown && shown.length === 0 && (
        <EmptyState title={rows.length === 0 ? `No ${what}s yet` : `No ${what}s match`}>
          {rows.length === 0
            ? `None of these environments has ${what}s.`
            : filter.differs === undefined
              ? "Nothing matches the search."
              : `Nothing differs from ${base}, or nothing that matches the search.`}
        </EmptyState>
      )}
      {isKnown && shown.length > 0 && (
        <CompareTable
          kind={kind}
          rows={shown}
          environments={[base, ...others]}
          counts={counts}
          selection={targets.length > 0 ? selection : undefined}
          onBase={(name) => set("base", name === environment.name ? "" : name)}
          onOpen={open}
        />
      )}
      {row && opened && (
        <DifferenceDialog
          row={row}
          apis={apis}
          initial={{ from: base, to: opened.to }}
          onClose={() => setOpened(undefined)}
          onCopy={(from, to) => {
            setOpened(undefined);
            setCopy({ of: kind, keys: [row.key], from, to });
          }}
        />
      )}
      {copy && (
        <CopyDialog {...copy} onClose={() => setCopy(undefined)} onBegin={selection.clear} />
      )}
    </>
  );
};

const views = [
  { value: "environments", label: "Environments" },
  { value: "times", label: "Two times" },
];

export const ComparePage = () => {
  const isAlone = useApis().length < 2;
  const { environment } = useApi();
  const [parameters, setParameters] = useSearchParams();
  const view = parameters.get("of") === "times" ? "times" : "environments";
  return (
    <>
      <PageTitle
        title="Compare"
        description={
          view === "times"
            ? `${environment.name} at two times. Choose a cell to see what has changed.`
            : "Environments side by side. Choose a cell to see what differs."
        }
      />
      <SegmentedControl
        aria-label="Compare"
        mb="md"
        data={views}
        value={view}
        onChange={(next) => setParameters(next === "times" ? { of: "times" } : {})}
      />
      {view === "times" && (
        <Suspense fallback={<RowsSkeleton rows={8} height={60} />}>
          <TwoTimes />
        </Suspense>
      )}
      {view === "environments" && (isAlone ? <AnotherEnvironment /> : <Comparison />)}
    </>
  );
};
