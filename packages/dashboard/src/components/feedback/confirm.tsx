// A confirmation dialog for actions that reach users or cannot be undone; the answer is a promise.
import { Button, Group, Modal, TextInput } from "@mantine/core";
import { createContext, type ReactNode, use, useCallback, useState } from "react";

export interface Question {
  readonly title: string;
  readonly body: ReactNode;
  readonly confirmLabel: string;
  /** "Cancel" unless given. */
  readonly cancelLabel?: string;
  /** Red, for destructive actions. */
  readonly danger?: boolean;
  /** Text that the user must type before confirming. */
  readonly typed?: string;
  /** Enter does not confirm it, unless somebody goes to the button. */
  readonly careful?: boolean;
}

/** Undefined when the dialog is closed without an answer, as with Escape. */
export type Answer = boolean | undefined;
export type Ask = (question: Question) => Promise<Answer>;
const ConfirmContext = createContext<Ask | undefined>(undefined);

interface Asked extends Question {
  readonly answer: (confirmed: Answer) => void;
}

const Dialog = ({ asked, opened }: { readonly asked: Asked; readonly opened: boolean }) => {
  const [typed, setTyped] = useState("");
  const { title, body, confirmLabel, danger = false, answer } = asked;
  const isReady = asked.typed === undefined || typed === asked.typed;
  return (
    <Modal opened={opened} onClose={() => answer(undefined)} title={title} centered size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) answer(true);
        }}
      >
        <div className="confirm-body">{body}</div>
        {asked.typed !== undefined && (
          <TextInput
            mt="md"
            label={`Type ${asked.typed} to confirm`}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
        )}
        <Group justify="flex-end" mt="lg">
          <Button
            variant="default"
            onClick={() => answer(false)}
            {...(asked.careful && { "data-autofocus": true })}
          >
            {asked.cancelLabel ?? "Cancel"}
          </Button>
          <Button
            type="submit"
            {...(danger && { color: "red.9" })}
            disabled={!isReady}
            {...(asked.typed === undefined && !asked.careful && { "data-autofocus": true })}
          >
            {confirmLabel}
          </Button>
        </Group>
      </form>
    </Modal>
  );
};

export const ConfirmProvider = ({ children }: { readonly children: ReactNode }) => {
  const [asked, setAsked] = useState<(Asked & { readonly number: number }) | undefined>();
  const [opened, setOpened] = useState(false);
  const ask = useCallback<Ask>(
    (question) =>
      new Promise((resolve) => {
        // The dialog is made when it is needed, so the library does not know what had the focus before.
        const focused = document.activeElement;
        setAsked((before) => ({
          ...question,
          number: (before?.number ?? 0) + 1,
          answer: (confirmed) => {
            setOpened(false);
            if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
            resolve(confirmed);
          },
        }));
        setOpened(true);
      }),
    [],
  );
  return (
    <ConfirmContext value={ask}>
      {children}
      {asked !== undefined && <Dialog key={asked.number} asked={asked} opened={opened} />}
    </ConfirmContext>
  );
};

export const useConfirm = (): Ask => {
  const ask = use(ConfirmContext);
  if (ask === undefined) throw new Error("useConfirm outside of ConfirmProvider");
  return ask;
};
