// The preview of copying flags or segments to another environment, as `halyard promote` plans it.
import { type Plan, planChanges } from "@halyard/core/plan/plan";
import { copiedMembers, planPromotion } from "@halyard/core/plan/promotion";
import { unmetRequirements } from "@halyard/core/plan/unmet";
import { Checkbox, NativeSelect } from "@mantine/core";
import { useMemo, useState } from "react";
import { type EnvironmentState, listsOf, useStatesNow } from "../compare/environment-snapshots.ts";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { type Api, useApis } from "../session.tsx";
import { PlanPreview } from "./plan-preview.tsx";
import { countOf } from "./plan-words.ts";

export interface Copy {
  readonly of: "flag" | "segment";
  readonly keys: readonly string[];
  /** The name of an environment. */
  readonly from: string;
  /** To begin with. */
  readonly to?: string;
}

interface CopyDialogProps extends Copy {
  readonly onClose: () => void;
  readonly onBegin?: () => void;
}

interface Planned {
  readonly plan: Plan;
  readonly refused: ReadonlyMap<string, string>;
  readonly notes: readonly string[];
}

const planFlags = (
  { keys, to }: Copy,
  members: readonly string[],
  [source, target]: readonly [EnvironmentState, EnvironmentState],
): Planned => {
  const there = listsOf(target);
  const plan = planPromotion(listsOf(source), there, { keys: new Set(keys), members });
  const refused = [...unmetRequirements(plan.changes, there.flags)].map(([key, missing]) => {
    const which = missing.length === 1 ? "a flag that is" : "flags that are";
    const reason = `It requires ${missing.join(", ")}, ${which} not in ${to}. Select ${missing.length === 1 ? "it" : "them"} too.`;
    return [key, reason] as const;
  });
  const { otherSegments: other } = plan;
  const names = other.join(", ");
  const notes =
    other.length === 0
      ? []
      : [
          `${other.length === 1 ? `The segment ${names} is` : `The segments ${names} are`} different in ${to} and not changed. Copy segments on their own.`,
        ];
  return { plan, refused: new Map(refused), notes };
};

const planSegments = (
  { keys }: Copy,
  [source, target]: readonly [EnvironmentState, EnvironmentState],
): Planned => {
  const chosen = new Set(keys);
  const segmentsOf = (state: EnvironmentState) =>
    (listsOf(state).segments ?? []).filter(({ key }) => chosen.has(key));
  const plan = planChanges(
    { flags: [], segments: segmentsOf(target) },
    { flags: [], segments: segmentsOf(source) },
  );
  return { plan, refused: new Map(), notes: [] };
};

interface MembersProps {
  readonly members: readonly string[];
  readonly onChange: (members: string[]) => void;
}

const Members = ({ members, onChange }: MembersProps) => (
  <details className="plan-members">
    <summary>
      What to copy:{" "}
      {members.length === copiedMembers.length ? "everything" : members.join(", ") || "nothing"}
    </summary>
    <Checkbox.Group
      label="Members to copy"
      description="Others stay as they are there. A new flag begins with the initial values of the others."
      value={[...members]}
      onChange={onChange}
    >
      <div className="plan-members-list">
        {copiedMembers.map((member) => (
          <Checkbox key={member} value={member} label={member} />
        ))}
      </div>
    </Checkbox.Group>
  </details>
);

const isTarget = (from: string) => (api: Api) => api.mayChange && api.environment.name !== from;

let readers = 0;
const newReader = (): string => {
  readers += 1;
  return String(readers);
};

export const CopyDialog = ({ onClose, onBegin, ...copy }: CopyDialogProps) => {
  const { of, keys, from } = copy;
  const apis = useApis();
  const targets = apis.filter(isTarget(from));
  const [chosen, setChosen] = useState(copy.to);
  const to = targets.find(({ environment }) => environment.name === chosen) ?? targets[0];
  const name = to?.environment.name ?? "";
  const [members, setMembers] = useState<readonly string[]>(copiedMembers);
  const source = apis.find(({ environment }) => environment.name === from);
  const [reader] = useState(newReader);
  const reads = useStatesNow(reader, source && to ? [source, to] : []);
  const failed = reads.find(({ error }) => error !== null);
  const [here, there] = reads.map(({ data }) => data);
  const planned = useMemo(() => {
    if (here === undefined || there === undefined) return undefined;
    const task: Copy = { of, keys, from, to: name };
    return of === "flag"
      ? planFlags(task, members, [here, there])
      : planSegments(task, [here, there]);
  }, [here, there, of, keys, from, name, members]);
  const versions = useMemo(
    () => new Map([...(there?.flags ?? [])].map(([key, { version }]) => [key, version])),
    [there],
  );
  return (
    <PlanPreview
      title={`Copy ${countOf(keys.length, of)} from ${from} to ${name}`}
      api={to}
      plan={planned?.plan}
      refused={planned?.refused ?? new Map()}
      notes={planned?.notes ?? []}
      versions={versions}
      verb="Copy"
      doing={`Copying to ${name}`}
      done={`Copied from ${from} to ${name}`}
      onClose={onClose}
      {...(onBegin && { onBegin })}
      controls={
        <>
          <div className="plan-controls">
            {targets.length > 1 && (
              <NativeSelect
                label="To"
                data={targets.map(({ environment }) => environment.name)}
                value={name}
                onChange={(event) => setChosen(event.currentTarget.value)}
              />
            )}
            {of === "flag" && <Members members={members} onChange={setMembers} />}
          </div>
          {planned === undefined && failed === undefined && (
            <p className="confirm-sentence" role="status">
              Reading {from} and {name}…
            </p>
          )}
          {failed !== undefined && (
            <ErrorMessage
              error={failed.error}
              title="An environment could not be read"
              onRetry={failed.refetch}
            />
          )}
        </>
      }
    />
  );
};
