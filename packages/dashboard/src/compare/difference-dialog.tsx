// One flag or segment in two environments: what differs, and the way to copy it.
import { Button, Group, NativeSelect } from "@mantine/core";
import { useState } from "react";
import { Dialog } from "../components/feedback/dialog.tsx";
import { FlagDiff } from "../flags/edit/flag-diff.tsx";
import { SegmentDiff } from "../plans/segment-diff.tsx";
import type { Api } from "../session.tsx";
import { differs, isFlagValue, type Row, type Value } from "./compare-rows.ts";
import "../plans/plans.css";

interface DifferenceDialogProps {
  readonly row: Row;
  readonly apis: readonly Api[];
  readonly initial: { readonly from: string; readonly to: string };
  readonly onClose: () => void;
  readonly onCopy: (from: string, to: string) => void;
}

/** Nothing when there is neither. */
export const Difference = ({
  before,
  after,
}: {
  readonly before: Value | undefined;
  readonly after: Value | undefined;
}) => {
  const either = after ?? before;
  if (either === undefined) return null;
  const flagOf = (value: Value | undefined) => (value && isFlagValue(value) ? value : null);
  const segmentOf = (value: Value | undefined) => (value && !isFlagValue(value) ? value : null);
  return isFlagValue(either) ? (
    <FlagDiff before={flagOf(before)} after={flagOf(after)} />
  ) : (
    <SegmentDiff before={segmentOf(before)} after={segmentOf(after)} />
  );
};

const sentenceOf = (row: Row, from: string, to: string): string => {
  const [here, there] = [row.values.get(from), row.values.get(to)];
  if (here === undefined && there === undefined) return `It is neither in ${from} nor in ${to}.`;
  if (here === undefined) return `It is not in ${from}. In ${to} it is:`;
  if (there === undefined) return `It is not in ${to}. In ${from} it is:`;
  return differs(here, there)
    ? `What copying it from ${from} would change in ${to}:`
    : `It is the same in ${from} and ${to}.`;
};

export const DifferenceDialog = (props: DifferenceDialogProps) => {
  const { row, apis, initial, onClose, onCopy } = props;
  const [from, setFrom] = useState(initial.from);
  const [to, setTo] = useState(initial.to);
  const names = apis.map(({ environment }) => environment.name);
  const target = apis.find(({ environment }) => environment.name === to);
  const [here, there] = [row.values.get(from), row.values.get(to)];
  const canCopy = here !== undefined && target?.mayChange === true && differs(here, there);
  const swap = () => {
    setFrom(to);
    setTo(from);
  };
  return (
    <Dialog onClose={onClose} title={`${row.key} in two environments`} size="lg">
      <div className="plan-controls">
        <NativeSelect
          label="From"
          data={names}
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <NativeSelect
          label="To"
          data={names}
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <Button variant="default" onClick={swap}>
          Swap
        </Button>
      </div>
      <p className="confirm-sentence" role="status">
        {sentenceOf(row, from, to)}
      </p>
      {here === undefined || there === undefined || differs(here, there) ? (
        <Difference before={there} after={here} />
      ) : null}
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        <Button disabled={!canCopy} onClick={() => onCopy(from, to)}>
          Copy to {to}…
        </Button>
      </Group>
    </Dialog>
  );
};
