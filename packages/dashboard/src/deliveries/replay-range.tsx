// The dialog that sends a range of events again and shows how far it has got.
import type { ReplayRange as Range, Webhook } from "@halyard/sdk";
import {
  Button,
  Group,
  Modal,
  NumberInput,
  Progress,
  Radio,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { ApiError } from "../api.ts";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { formatNumber } from "../format.ts";
import { useApi } from "../session.tsx";
import { useReadWebhooksAgain } from "../webhooks/webhook-queries.ts";
import { followReplay, type ReplayProgress } from "./replay-progress.ts";

/** What the reader's clock shows, as a moment. */
const momentOf = (local: string): string | undefined => {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
};

const ProgressOf = ({ progress }: { readonly progress: ReplayProgress }) => {
  const { queued, pending, failed, complete } = progress;
  const settled = queued - pending;
  return (
    <div>
      <Progress.Root size="xl">
        <Progress.Section
          value={(100 * (settled - failed)) / queued}
          color="teal"
          aria-label="Settled of those that are sent again"
        />
        <Progress.Section value={(100 * failed) / queued} color="red" withAria={false} />
      </Progress.Root>
      <Text size="sm" mt="xs" role="status">
        {formatNumber(settled)} of {formatNumber(queued)}
        {complete ? "" : " or more"} settled
        {failed > 0 && `, ${formatNumber(failed)} of them failed`}
        {pending > 0 && complete && `; ${formatNumber(pending)} wait`}.
      </Text>
    </div>
  );
};

interface RangeFormProps {
  readonly busy: boolean;
  readonly onSubmit: (range: Range) => void;
}

const RangeForm = ({ busy, onSubmit }: RangeFormProps) => {
  const [by, setBy] = useState("sequence");
  const [sequence, setSequence] = useState<number | string>("");
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const times = { from: momentOf(from), to: momentOf(to) };
  const isBackward = times.from !== undefined && times.to !== undefined && times.to < times.from;
  const range: Range | undefined =
    by === "sequence"
      ? typeof sequence === "number"
        ? { afterSequence: sequence }
        : undefined
      : (times.from === undefined && times.to === undefined) || isBackward
        ? undefined
        : {
            ...(times.from !== undefined && { from: times.from }),
            ...(times.to !== undefined && { to: times.to }),
          };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (range !== undefined) onSubmit(range);
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Radio.Group label="Which events" value={by} onChange={setBy}>
          <Group mt="xs">
            <Radio value="sequence" label="after a sequence number" />
            <Radio value="time" label="between two times" />
          </Group>
        </Radio.Group>
        {by === "sequence" ? (
          <NumberInput
            label="After sequence"
            description="The last one your receiver is sure of. 0 is the beginning; events are kept for 90 days."
            value={sequence}
            onChange={setSequence}
            min={0}
            allowDecimal={false}
            data-autofocus
          />
        ) : (
          <Group grow align="flex-start">
            <TextInput
              type="datetime-local"
              label="From"
              value={from}
              onChange={(event) => setFrom(event.currentTarget.value)}
            />
            <TextInput
              type="datetime-local"
              label="To"
              value={to}
              onChange={(event) => setTo(event.currentTarget.value)}
              error={isBackward ? "This is before the beginning." : undefined}
            />
          </Group>
        )}
        <Text size="sm" c="dimmed">
          Events keep their id, body and sequence, so a receiver that knows the ids takes nothing
          twice. Fresh events go first.
        </Text>
        <Group justify="flex-end">
          <Button type="submit" loading={busy} disabled={range === undefined}>
            Send them again
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

interface ReplayRangeProps {
  readonly webhook: Webhook;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export const ReplayRange = ({ webhook, opened, onClose }: ReplayRangeProps) => {
  const { management } = useApi();
  const readAgain = useReadWebhooksAgain();
  const [progress, setProgress] = useState<ReplayProgress | undefined>();
  const [busy, setBusy] = useState(false);
  const [isNone, setIsNone] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const following = useRef<AbortController>(undefined);
  useEffect(() => () => following.current?.abort(), []);

  const start = async (range: Range) => {
    const stop = new AbortController();
    following.current = stop;
    setBusy(true);
    setError(undefined);
    setIsNone(false);
    const outcome = await followReplay({
      management,
      webhookId: webhook.id,
      range,
      signal: stop.signal,
      onProgress: setProgress,
    });
    readAgain();
    if (stop.signal.aborted) return;
    setBusy(false);
    setIsNone(outcome.ok && outcome.queued === 0);
    if (!outcome.ok) setError(new ApiError(outcome.error));
  };
  const close = () => {
    following.current?.abort();
    setBusy(false);
    setProgress(undefined);
    setError(undefined);
    setIsNone(false);
    onClose();
  };
  return (
    <Modal opened={opened} onClose={close} title="Send a range of events again" size="lg">
      {progress === undefined && <RangeForm busy={busy} onSubmit={(range) => void start(range)} />}
      {isNone && (
        <Text size="sm" mt="md" role="status">
          There is no event in this range that the webhook is told of.
        </Text>
      )}
      {error !== undefined && <ErrorMessage error={error} title="It could not be finished" />}
      {progress !== undefined && (
        <Stack gap="md">
          <ProgressOf progress={progress} />
          {busy && (
            <Text size="sm" c="dimmed">
              {progress.complete
                ? "You can close this: the sending goes on without it."
                : "Keep this open until all are queued."}
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant={busy ? "default" : "filled"} onClick={close}>
              {busy ? "Close" : "Done"}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
};
