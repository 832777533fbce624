// The dialog that creates a segment.
import { maxDescriptionLength } from "@halyard/core/flags/rules";
import { Button, Group, Modal, Stack, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError } from "../api.ts";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { givenReason, ReasonInput } from "../components/feedback/reason.tsx";
import { useKept } from "../flags/edit/edit-draft.tsx";
import { keyError } from "../key-error.ts";
import { useLiveState } from "../live-provider.tsx";
import { proposedAt } from "../proposal.ts";
import { useApi } from "../session.tsx";
import { useSegmentEdits } from "./segment-edits.tsx";

interface CreateSegmentProps {
  readonly opened: boolean;
  /** To begin with. */
  readonly initialKey?: string;
  readonly onClose: () => void;
  readonly onCreated: (key: string) => void;
}

interface Typed {
  readonly key: string;
  readonly description: string;
  readonly reason: string;
}

const CreateSegmentForm = ({
  initialKey = "",
  onClose,
  onCreated,
}: Omit<CreateSegmentProps, "opened">) => {
  const { asksReason, proposes } = useApi();
  const edits = useSegmentEdits();
  const { segmentsByKey } = useLiveState();
  /** Escape closes the dialog and keeps what was typed. */
  const [kept, keep] = useKept<Typed>(`new segment ${initialKey}`);
  const typed = kept ?? { key: initialKey, description: "", reason: "" };
  const { key, description, reason } = typed;
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const wrongKey = keyError(key, "segment", segmentsByKey.has(key));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (wrongKey !== undefined || key === "") return;
    setBusy(true);
    const text = description.trim();
    const segment = { key, ...(text !== "" && { description: text }) };
    const result = await edits.create(segment, givenReason(reason));
    setBusy(false);
    const isProposed = !result.ok && proposedAt(result.error) !== undefined;
    if (!result.ok && !isProposed) return setError(new ApiError(result.error));
    keep(undefined);
    if (isProposed) onClose();
    else onCreated(key);
  };
  const cancel = () => {
    keep(undefined);
    onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="md">
        <TextInput
          label="Key"
          description="The name that rules use. It cannot be changed later."
          value={key}
          onChange={(event) => keep({ ...typed, key: event.currentTarget.value })}
          error={wrongKey}
          placeholder="beta-testers"
          autoComplete="off"
          spellCheck={false}
          required
          data-autofocus
        />
        <Textarea
          label="Description"
          description="Who is in it, and what for."
          value={description}
          onChange={(event) => keep({ ...typed, description: event.currentTarget.value })}
          maxLength={maxDescriptionLength}
          autosize
          minRows={2}
          maxRows={6}
        />
        {asksReason && (
          <ReasonInput value={reason} onChange={(next) => keep({ ...typed, reason: next })} />
        )}
        {error !== undefined && <ErrorMessage error={error} title="The segment was not created" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={cancel}>
            Cancel
          </Button>
          <Button type="submit" loading={busy} disabled={key === "" || wrongKey !== undefined}>
            {proposes ? "Propose" : "Create segment"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

export const CreateSegment = ({ opened, ...form }: CreateSegmentProps) => (
  <Modal opened={opened} onClose={form.onClose} title="Create segment" size="lg">
    <CreateSegmentForm {...form} />
  </Modal>
);
