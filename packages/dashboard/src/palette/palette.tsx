// Goes to any flag, segment, webhook, environment or page and does what the page can, from the keyboard: Ctrl K or ⌘ K.
import { CloseButton, Kbd, Modal, TextInput, UnstyledButton } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { Icon } from "../components/display/icon.tsx";
import { ErrorBoundary } from "../components/feedback/error-boundary.tsx";
import { loadedLater } from "../pages/load-page.tsx";
import "../styles/parts/palette.css";
import type { Entry, Place } from "./entries.ts";
import type { PaletteHandle } from "./palette-results.tsx";

// The text field is there at once, so that nothing typed meanwhile is lost or reaches the page.
const PaletteResults = loadedLater(
  async () => (await import("./palette-results.tsx")).PaletteResults,
  <p className="dimmed">Loading…</p>,
);

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);
export const paletteKeys = isApple ? "⌘\u00a0K" : "Ctrl\u00a0K";

const focusOnMount = (input: HTMLInputElement | null) => input?.focus();

interface DialogProps {
  readonly places: readonly Place[];
  readonly onClose: () => void;
  readonly onChoose: (entry: Entry) => void;
}

const PaletteDialog = ({ places, onClose, onChoose }: DialogProps) => {
  const listId = useId();
  const [typed, setTyped] = useState("");
  const [active, setActive] = useState<string | undefined>();
  const results = useRef<PaletteHandle>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const { current } = results;
    // While an input method composes, the keys are its own.
    if (current === null || event.nativeEvent.isComposing) return;
    if (event.key === "Enter") current.choose();
    else if (event.key === "ArrowDown") current.move(1);
    else if (event.key === "ArrowUp") current.move(-1);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div className="palette-head">
        <TextInput
          className="palette-input"
          ref={focusOnMount}
          data-autofocus
          aria-label="Flag, page, environment or action"
          placeholder="Flag, page, environment or action"
          leftSection={<Icon name="search" size={16} />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          role="combobox"
          aria-expanded={active !== undefined}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={active}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
        />
        <CloseButton aria-label="Close" onClick={onClose} />
      </div>
      <ErrorBoundary>
        <PaletteResults
          id={listId}
          typed={typed}
          places={places}
          onActive={setActive}
          onChoose={onChoose}
          ref={results}
        />
      </ErrorBoundary>
    </>
  );
};

export const Palette = ({ places }: { readonly places: readonly Place[] }) => {
  const [opened, setOpened] = useState(false);
  const focused = useRef<Element | null>(null);
  const open = () => {
    // One dialog at a time.
    if (document.querySelector('[role="dialog"]') !== null) return;
    focused.current = document.activeElement;
    setOpened(true);
  };
  /** Before anything else is done: another dialog returns the focus to where it finds it. */
  const returnFocus = (): HTMLElement => {
    const { current } = focused;
    const isThere = current instanceof HTMLElement && current.isConnected;
    // When nothing had the focus, the page gets it.
    const target =
      isThere && current !== document.body ? current : document.getElementById("content");
    target?.focus({ preventScroll: true });
    return target ?? document.body;
  };
  const close = () => {
    setOpened(false);
    returnFocus();
  };
  const choose = (entry: Entry) => {
    setOpened(false);
    entry.run(returnFocus());
  };
  useHotkeys([["mod+K", () => (opened ? close() : open())]], []);
  return (
    <>
      <UnstyledButton className="palette-open" onClick={open} aria-keyshortcuts="Control+K Meta+K">
        <Icon name="search" size={16} />
        <span className="palette-open-words">Go to…</span>
        <Kbd size="xs" aria-hidden="true">
          {paletteKeys}
        </Kbd>
      </UnstyledButton>
      <Modal.Root
        opened={opened}
        onClose={close}
        returnFocus={false}
        size="lg"
        yOffset="8dvh"
        transitionProps={{ duration: 0 }}
      >
        <Modal.Overlay />
        <Modal.Content className="palette" aria-label="Go to or do">
          <PaletteDialog places={places} onClose={close} onChoose={choose} />
        </Modal.Content>
      </Modal.Root>
    </>
  );
};
