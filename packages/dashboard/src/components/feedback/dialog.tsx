// A dialog that is there only while it is open. Mantine gives the focus back only where a dialog stays mounted.
import { Modal, type ModalProps } from "@mantine/core";
import { useEffect, useState } from "react";

/** What had the focus before the first of several dialogs that follow one another. */
let before: HTMLElement | undefined;

const findBefore = (): HTMLElement | undefined => {
  const focused = document.activeElement;
  if (focused instanceof HTMLElement && focused.closest('[role="dialog"]') === null) {
    before = focused;
  }
  return before;
};

/** The focus goes back to what opened it; to the page, if that is gone. */
const useFocusBack = (): void => {
  const [opener] = useState(findBefore);
  useEffect(
    () => () => {
      // Another dialog may have it already.
      if (document.activeElement !== document.body) return;
      const isThere = opener?.isConnected === true && opener !== document.body;
      const target = isThere ? opener : document.getElementById("content");
      target?.focus({ preventScroll: true });
    },
    [opener],
  );
};

export const Dialog = (props: Omit<ModalProps, "opened">) => {
  useFocusBack();
  return <Modal opened centered {...props} />;
};
