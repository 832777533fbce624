// Copies text to the clipboard and confirms it.
import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { type MouseEvent, useEffect, useState } from "react";
import { Icon } from "./icon.tsx";

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, such as "secret". */
  readonly what: string;
  /** With a visible label, where it is the main action. */
  readonly wide?: boolean;
}

const shownFor = 2_000;

/** Over plain http there is no clipboard API. The selection is made beside the button: a dialog keeps the focus inside. */
const copySelected = (text: string, button: HTMLElement): boolean => {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  button.after(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  button.focus();
  return isCopied;
};

export const copyText = async (text: string, button: HTMLElement): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text, button);
  }
};

export const CopyButton = ({ text, what, wide = false }: CopyButtonProps) => {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  useEffect(() => {
    if (state === "idle") return;
    const timer = setTimeout(() => setState("idle"), shownFor);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async ({ currentTarget }: MouseEvent<HTMLElement>) => {
    setState((await copyText(text, currentTarget)) ? "copied" : "failed");
  };
  const label = {
    idle: `Copy ${what}`,
    copied: "Copied",
    failed: "Copying failed: select the text and copy it",
  }[state];
  const icon = <Icon name={state === "copied" ? "check" : "copy"} size={16} />;
  return (
    <>
      {wide ? (
        <Button variant="light" leftSection={icon} onClick={(event) => void copy(event)}>
          {label}
        </Button>
      ) : (
        <Tooltip label={label}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Copy ${what}`}
            onClick={(event) => void copy(event)}
          >
            {icon}
          </ActionIcon>
        </Tooltip>
      )}
      <span className="visually-hidden" aria-live="polite">
        {state === "idle" ? "" : label}
      </span>
    </>
  );
};
