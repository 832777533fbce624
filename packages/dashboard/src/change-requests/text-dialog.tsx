// A dialog that asks for a text before something is done about a request.
import { Button, Group, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { Dialog } from "../components/feedback/dialog.tsx";
import { localOf, timeOfLocal } from "../history/history-filter.ts";

export interface Answer {
  readonly text: string;
  /** ISO 8601; null for at once. */
  readonly applyAt: string | null;
}

interface TextDialogProps {
  readonly title: string;
  readonly label: string;
  readonly initial?: string;
  readonly maxLength: number;
  /** Whether it cannot be left empty. */
  readonly required?: boolean;
  /** Asks for a time too, beginning with this one. */
  readonly applyAt?: string | null;
  readonly confirmLabel: string;
  readonly danger?: boolean;
  readonly children?: ReactNode;
  readonly onClose: () => void;
  /** Whether it is done: then the dialog closes. */
  readonly onSubmit: (answer: Answer) => Promise<boolean>;
}

export const TextDialog = (props: TextDialogProps) => {
  const { title, label, initial = "", maxLength, required = false, confirmLabel } = props;
  const { danger = false, children, onClose, onSubmit } = props;
  const [text, setText] = useState(initial);
  const [applyAt, setApplyAt] = useState(props.applyAt ?? "");
  const [busy, setBusy] = useState(false);
  const isReady = !required || text.trim() !== "";
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isReady) return;
    setBusy(true);
    const isDone = await onSubmit({ text: text.trim(), applyAt: applyAt === "" ? null : applyAt });
    setBusy(false);
    if (isDone) onClose();
  };
  return (
    <Dialog onClose={onClose} title={title} size="lg">
      <form onSubmit={(event) => void submit(event)}>
        {children}
        <Textarea
          label={label}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          maxLength={maxLength}
          required={required}
          autosize
          minRows={2}
          maxRows={8}
          data-autofocus
        />
        {props.applyAt !== undefined && (
          <TextInput
            mt="md"
            type="datetime-local"
            label="Apply at (your time; empty for as soon as it is approved)"
            value={localOf(applyAt)}
            onChange={(event) => setApplyAt(timeOfLocal(event.currentTarget.value))}
          />
        )}
        <Group justify="flex-end" mt="lg">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            loading={busy}
            disabled={!isReady}
            {...(danger && { color: "red.9" })}
          >
            {confirmLabel}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
};
