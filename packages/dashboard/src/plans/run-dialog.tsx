// How far a plan has come, and afterwards what could not be done and why.
import type { Change } from "@halyard/core/plan/plan";
import type { Outcome } from "@halyard/sdk/apply-plan";
import { Button, Group, Modal, Progress } from "@mantine/core";
import { adviceFor } from "../advice.ts";
import { formatNumber } from "../format.ts";
import { countsOf } from "./plan-words.ts";
import type { Running } from "./run.ts";

const everything = 100;

const reasonOf = (outcome: Outcome): string => {
  switch (outcome.kind) {
    case "conflict":
      return `${outcome.message}. It is left as it is.`;
    case "failed":
      // Some of it may be done: a flag that is created is turned on afterwards.
      if (outcome.error.code === "ABORTED") return "was stopped before all of it was done.";
      return `${outcome.error.message} ${adviceFor(outcome.error)}`;
    case "untried":
      return "was not tried.";
    case "done":
      return "";
  }
};

const InProgress = ({ running }: { readonly running: Running }) => {
  const { finished, changes, wait, stop } = running;
  return (
    <>
      <Progress
        value={(finished / Math.max(changes.length, 1)) * everything}
        aria-label="Changes made"
      />
      <p role="status">
        {formatNumber(finished)} of {formatNumber(changes.length)}
        {wait !== undefined &&
          `. The server limits requests per minute. Continues in ${Math.ceil(wait / 1_000)} seconds.`}
      </p>
      <Group justify="flex-end">
        <Button variant="default" onClick={stop}>
          Stop
        </Button>
      </Group>
    </>
  );
};

interface EndedProps {
  readonly changes: readonly Change[];
  readonly outcomes: readonly Outcome[];
  readonly onClose: () => void;
  readonly onUndo?: () => void;
}

const Ended = ({ changes, outcomes, onClose, onUndo }: EndedProps) => {
  const done = changes.filter((_, index) => outcomes[index]?.kind === "done");
  const rest = changes.flatMap((change, index) => {
    const outcome = outcomes[index];
    return outcome === undefined || outcome.kind === "done" ? [] : [{ change, outcome }];
  });
  return (
    <>
      <p className="confirm-sentence">
        {done.length === 0 ? "Nothing was changed." : `Done: ${countsOf(done)}.`} Not done:{" "}
        {formatNumber(rest.length)}.
      </p>
      <ul className="plan-lines" aria-label="Not done">
        {rest.map(({ change, outcome }) => (
          <li key={`${change.of} ${change.key}`}>
            {change.of === "segment" && "segment "}
            <strong className="mono">{change.key}</strong> {reasonOf(outcome)}
          </li>
        ))}
      </ul>
      <Group justify="flex-end" mt="lg">
        {onUndo !== undefined && (
          <Button variant="default" onClick={onUndo}>
            Undo what was done
          </Button>
        )}
        <Button onClick={onClose} data-autofocus>
          Close
        </Button>
      </Group>
    </>
  );
};

interface RunDialogProps {
  readonly running: Running;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onUndo?: () => void;
}

export const RunDialog = ({ running, opened, onClose, onUndo }: RunDialogProps) => {
  const { outcomes, changes, doing } = running;
  const hasEnded = outcomes !== undefined;
  return (
    <Modal
      opened={opened}
      onClose={hasEnded ? onClose : () => {}}
      withCloseButton={hasEnded}
      title={hasEnded ? `${doing}: not everything was done` : `${doing}…`}
      size="lg"
      centered
    >
      {hasEnded ? (
        <Ended
          changes={changes}
          outcomes={outcomes}
          onClose={onClose}
          {...(onUndo && { onUndo })}
        />
      ) : (
        <InProgress running={running} />
      )}
    </Modal>
  );
};
