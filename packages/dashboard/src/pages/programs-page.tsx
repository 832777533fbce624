// The instances and programs of the environment: which revision each has, and who lacks the newest.
import type { Programs as Listed } from "@halyard/sdk/management";
import { Anchor, Button, Kbd, NativeSelect, TextInput } from "@mantine/core";
import { useMemo, useRef } from "react";
import { Link, useSearchParams } from "wouter";
import { CodeBlock } from "../components/display/code-block.tsx";
import { Icon } from "../components/display/icon.tsx";
import { Time } from "../components/display/time.tsx";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { usePageKeys } from "../components/layout/page-keys.ts";
import { PageTitle } from "../components/layout/page-title.tsx";
import { Section } from "../components/layout/section.tsx";
import { formatNumber } from "../format.ts";
import { countOf } from "../plans/plan-words.ts";
import { durationText, reachOf } from "../programs/arrival-words.ts";
import {
  clientsOf,
  countStates,
  instancesOf,
  type Program,
  type ProgramFilter,
  parametersOf,
  programFilterFrom,
  programStates,
  shownPrograms,
  stateFrom,
} from "../programs/program-filter.ts";
import { ProgramList } from "../programs/program-list.tsx";
import { usePrograms } from "../programs/use-programs.ts";
import { useApi } from "../session.tsx";
import "../programs/programs.css";

// biome-ignore lint/performance/noBarrelFile: both are loaded together, see routes.tsx.
export { followArrival } from "../programs/arrival.tsx";

/** "43 of 45 programs have revision 812, made 3 minutes ago, the last after 80 ms". */
const Reached = ({ list }: { readonly list: Listed }) => {
  const { revision, changedAt, reached } = list;
  const { within } = reached;
  const { instances, programs } = reachOf(list);
  const { have, of } = programs.of === 0 ? instances : programs;
  const what = programs.of === 0 ? "Halyard instance" : "program";
  return (
    <>
      {formatNumber(have)} of {countOf(of, what)} {of === 1 ? "has" : "have"} revision{" "}
      {formatNumber(revision)}
      {changedAt !== null && (
        <>
          , made <Time at={changedAt} />
        </>
      )}
      {within !== null && `, the last after ${durationText(within)}`}
    </>
  );
};

interface FiltersProps {
  readonly filter: ProgramFilter;
  /** All that there are. */
  readonly programs: readonly Program[];
  readonly onChange: (filter: ProgramFilter) => void;
}

const Filters = ({ filter, programs, onChange }: FiltersProps) => {
  const search = useRef<HTMLInputElement>(null);
  usePageKeys({ "/": () => search.current?.focus() });
  const counts = countStates(programs);
  return (
    <search className="program-filters">
      <TextInput
        ref={search}
        className="program-search"
        type="search"
        aria-label="Search name, SDK or instance"
        placeholder="Search name, SDK or instance"
        leftSection={<Icon name="search" size={16} />}
        rightSection={filter.text === "" ? <Kbd size="xs">/</Kbd> : undefined}
        rightSectionPointerEvents="none"
        value={filter.text}
        onChange={(event) => onChange({ ...filter, text: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      <NativeSelect
        aria-label="State"
        data={[
          { value: "all", label: `All states (${formatNumber(programs.length)})` },
          ...programStates.map((state) => ({
            value: state,
            label: `${state} (${formatNumber(counts[state])})`,
          })),
        ]}
        value={filter.state}
        onChange={(event) => onChange({ ...filter, state: stateFrom(event.currentTarget.value) })}
      />
    </search>
  );
};

const everything: ProgramFilter = { text: "", state: "all" };

const example = () => `const client = createClient({
  url: "${location.origin}",
  key: process.env.HALYARD_API_KEY,
  name: "checkout",
});`;

const NoPrograms = () => {
  const { environment, may } = useApi();
  return (
    <EmptyState
      title="No programs yet"
      action={<CodeBlock code={example()} label="In your code" what="code" />}
    >
      A program is listed here once it has connected with the Halyard SDK and a server key of{" "}
      {environment.name}
      {may("keys.write") && (
        <>
          {" "}
          (
          <Anchor inherit component={Link} href="/keys">
            create a key
          </Anchor>
          )
        </>
      )}
      . It evaluates in its own memory and tells which revision it has. Its name is that of its host
      and process, unless you give it one.
    </EmptyState>
  );
};

interface ProgramsProps {
  readonly list: Listed;
  readonly filter: ProgramFilter;
  readonly onChange: (filter: ProgramFilter) => void;
}

const Programs = ({ list, filter, onChange }: ProgramsProps) => {
  const { clientsLeftOut, told } = list;
  const instances = useMemo(() => instancesOf(list), [list]);
  const clients = useMemo(() => clientsOf(list), [list]);
  const shownInstances = useMemo(() => shownPrograms(instances, filter), [instances, filter]);
  const shownClients = useMemo(() => shownPrograms(clients, filter), [clients, filter]);
  const all = [...instances, ...clients];
  const shown = shownInstances.length + shownClients.length;
  return (
    <>
      <Filters filter={filter} programs={all} onChange={onChange} />
      <p className="flag-count dimmed" role="status">
        {shown < all.length && `${formatNumber(shown)} of ${formatNumber(all.length)} match`}
      </p>
      {shown === 0 && (
        <EmptyState
          title="No programs match"
          action={
            <Button variant="default" onClick={() => onChange(everything)}>
              Clear filters
            </Button>
          }
        >
          No program matches the search and the state.
        </EmptyState>
      )}
      {shownInstances.length > 0 && (
        <Section title="Instances of Halyard">
          <ProgramList label="Instances of Halyard" programs={shownInstances} />
        </Section>
      )}
      {shownClients.length > 0 && (
        <Section title="Programs">
          <ProgramList label="Programs" programs={shownClients} />
        </Section>
      )}
      {clientsLeftOut > 0 && (
        <p className="program-note">
          {countOf(clientsLeftOut, "more program")} {clientsLeftOut === 1 ? "is" : "are"} counted
          but not listed: those that lag come first.
        </p>
      )}
      {told > 0 && (
        <p className="program-note">
          {countOf(told, "other reader")} {told === 1 ? "was" : "were"} told of the newest change.
          What reads over OFREP, or with an older SDK, does not tell what it has.
        </p>
      )}
      {clients.length + clientsLeftOut === 0 && (
        <div className="section">
          <NoPrograms />
        </div>
      )}
    </>
  );
};

export const ProgramsPage = () => {
  const [parameters, setParameters] = useSearchParams();
  const filter = useMemo(() => programFilterFrom(parameters), [parameters]);
  const query = usePrograms();
  const list = query.data;
  return (
    <>
      <PageTitle
        title="Programs"
        description={list === undefined ? "…" : <Reached list={list} />}
      />
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton />}
      {list !== undefined && (
        <Programs
          list={list}
          filter={filter}
          onChange={(next) => setParameters(parametersOf(next), { replace: true })}
        />
      )}
    </>
  );
};
