// The dialog that shows a plan before it is carried out: exactly what changes, and a confirmation in production.
import type { Change, Plan } from "@halyard/core/plan/plan";
import { operationsOf } from "@halyard/sdk/propose-plan";
import { Alert, Button, Group, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { Icon } from "../components/display/icon.tsx";
import { Dialog } from "../components/feedback/dialog.tsx";
import { givenReason, ProposesNote, ReasonInput } from "../components/feedback/reason.tsx";
import { FlipPreview } from "../flips/flip-preview.tsx";
import { formatNumber } from "../format.ts";
import type { Api } from "../session.tsx";
import { PlanLines } from "./plan-lines.tsx";
import { plannedOf, whatOf } from "./plan-words.ts";
import { useRunPlan } from "./run-plan.tsx";
import "./plans.css";

interface PlanPreviewProps {
  readonly title: string;
  /** Where the changes are made; undefined while it is not chosen. */
  readonly api: Api | undefined;
  /** Undefined while it cannot be known. */
  readonly plan: Plan | undefined;
  readonly versions: ReadonlyMap<string, number>;
  /** Flags that cannot be changed, with the reason. */
  readonly refused?: ReadonlyMap<string, string>;
  readonly notes?: readonly string[];
  /** What the plan depends on. */
  readonly controls?: ReactNode;
  /** Such as "Copy": the button continues with what is changed. */
  readonly verb: string;
  readonly doing: string;
  readonly done: string;
  readonly danger?: boolean;
  readonly onClose: () => void;
  /** It has begun. */
  readonly onBegin?: () => void;
}

const none: ReadonlyMap<string, string> = new Map();

const summaryOf = (plan: Plan, possible: readonly Change[]): string => {
  const same = plan.unchanged.flags + plan.unchanged.segments;
  const impossible = plan.changes.length - possible.length;
  return [
    possible.length === 0 ? "Nothing to change" : plannedOf(possible),
    ...(impossible > 0 ? [`${impossible} not possible`] : []),
    ...(same > 0 ? [`${formatNumber(same)} already the same`] : []),
  ].join(", ");
};

export const PlanPreview = (props: PlanPreviewProps) => {
  const { title, api, plan, versions, refused = none, notes = [], controls, verb } = props;
  const { doing, done, danger = false, onClose, onBegin } = props;
  const run = useRunPlan();
  const [typed, setTyped] = useState("");
  const [reason, setReason] = useState("");
  const changes = (plan?.changes ?? []).filter(
    ({ kind, of, key }) => kind !== "retype" && !(of === "flag" && refused.has(key)),
  );
  const name = api?.environment.name ?? "";
  const proposes = api?.proposes === true;
  const isTyped = api?.isProduction === true && !proposes;
  const isConfirmed = !isTyped || typed === name;
  const isReady = api !== undefined && changes.length > 0 && isConfirmed;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isReady) return;
    void run({ doing, done, api, changes, versions, ...givenReason(reason) });
    onClose();
    onBegin?.();
  };
  return (
    <Dialog onClose={onClose} title={title} size="xl">
      <form onSubmit={submit}>
        {controls}
        {plan !== undefined && (
          <>
            <p className="confirm-sentence" role="status">
              {summaryOf(plan, changes)}.
            </p>
            {notes.length > 0 && (
              <Alert variant="light" color="yellow" icon={<Icon name="warning" />}>
                {notes.map((note) => (
                  <p key={note} className="plan-note">
                    {note}
                  </p>
                ))}
              </Alert>
            )}
            {api !== undefined && (
              <FlipPreview api={api} operations={changes.flatMap(operationsOf)} />
            )}
            <PlanLines changes={plan.changes} refused={refused} />
          </>
        )}
        {api?.asksReason === true && (
          <div className="plan-confirm">
            <ReasonInput value={reason} onChange={setReason} />
            {isTyped && (
              <TextInput
                label={`Type ${name} to confirm`}
                value={typed}
                onChange={(event) => setTyped(event.currentTarget.value)}
                autoComplete="off"
                spellCheck={false}
              />
            )}
          </div>
        )}
        {proposes && <ProposesNote name={name} />}
        <Group justify="flex-end" mt="lg" className="plan-actions">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={!isReady} {...(danger && { color: "red.9" })}>
            {proposes ? "Propose" : changes.length === 0 ? verb : `${verb} ${whatOf(changes)}`}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
};
