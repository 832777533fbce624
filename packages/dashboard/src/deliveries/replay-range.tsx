// The dialog that replays a range of events and shows the progress.
import type { ReplayRange as Range, Webhook } from "@halyard/sdk/management";
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
import { useRefetchWebhooks } from "../webhooks/webhook-queries.ts";
import { followReplay, type ReplayProgress } from "./replay-progress.ts";

/** From local time to UTC. */
const timeOf = (local: string): string | undefined => {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
};

const ProgressOf = ({ progress }: { readonly progress: ReplayProgress }) => {
  const { queued, pending, failed, complete } = progress;
  const completed = queued - pending;
  return (
    <div>
      <Progress.Root size="xl">
        <Progress.Section
          value={(100 * (completed - failed)) / queued}
          color="teal"
          aria-label="Completed deliveries of the replay"
        />
        <Progress.Section value={(100 * failed) / queued} color="red" withAria={false} />
      </Progress.Root>
      <Text size="sm" mt="xs" role="status">
        {formatNumber(completed)} of {formatNumber(queued)}
        {complete ? "" : " or more"} completed
        {failed > 0 && `, ${formatNumber(failed)} of them failed`}
        {pending > 0 && complete && `; ${formatNumber(pending)} pending`}.
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
  const times = { from: timeOf(from), to: timeOf(to) };
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
        <Radio.Group label="Events" value={by} onChange={setBy}>
          <Group mt="xs">
            <Radio value="sequence" label="After a sequence number" />
            <Radio value="time" label="Between two times" />
          </Group>
        </Radio.Group>
        {by === "sequence" ? (
          <NumberInput
            label="After sequence"
            description="The last sequence number that your receiver has processed. 0 replays all events of the last 90 days."
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
              error={isBackward ? "Must be after the start." : undefined}
            />
          </Group>
        )}
        <Text size="sm" c="dimmed">
          Events keep their ID, body and sequence number, so your receiver can skip duplicates. New
          events are sent first.
        </Text>
        <Group justify="flex-end">
          <Button type="submit" loading={busy} disabled={range === undefined}>
            Replay
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
  const refetch = useRefetchWebhooks();
  const [progress, setProgress] = useState<ReplayProgress | undefined>();
  const [busy, setBusy] = useState(false);
  const [isEmpty, setIsEmpty] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const following = useRef<AbortController>(undefined);
  useEffect(() => () => following.current?.abort(), []);

  const start = async (range: Range) => {
    const stop = new AbortController();
    following.current = stop;
    setBusy(true);
    setError(undefined);
    setIsEmpty(false);
    const outcome = await followReplay({
      management,
      webhookId: webhook.id,
      range,
      signal: stop.signal,
      onProgress: setProgress,
    });
    refetch();
    if (stop.signal.aborted) return;
    setBusy(false);
    setIsEmpty(outcome.ok && outcome.queued === 0);
    if (!outcome.ok) setError(new ApiError(outcome.error));
  };
  const close = () => {
    following.current?.abort();
    setBusy(false);
    setProgress(undefined);
    setError(undefined);
    setIsEmpty(false);
    onClose();
  };
  return (
    <Modal opened={opened} onClose={close} title="Replay events" size="lg">
      {progress === undefined && <RangeForm busy={busy} onSubmit={(range) => void start(range)} />}
      {isEmpty && (
        <Text size="sm" mt="md" role="status">
          No events of this webhook are in this range.
        </Text>
      )}
      {error !== undefined && <ErrorMessage error={error} title="The replay did not finish" />}
      {progress !== undefined && (
        <Stack gap="md">
          <ProgressOf progress={progress} />
          {busy && (
            <Text size="sm" c="dimmed">
              You can close this dialog. The replay continues.
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
