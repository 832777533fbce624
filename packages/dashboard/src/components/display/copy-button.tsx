// Copies text to the clipboard and confirms it.
import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { useEffect, useState } from "react";
import { Icon } from "./icon.tsx";

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, such as "secret". */
  readonly what: string;
  /** With a visible label, where it is the main action. */
  readonly wide?: boolean;
}

const shownFor = 2_000;

export const CopyButton = ({ text, what, wide = false }: CopyButtonProps) => {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  useEffect(() => {
    if (state === "idle") return;
    const timer = setTimeout(() => setState("idle"), shownFor);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setState("copied");
    } catch {
      setState("failed");
    }
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
        <Button variant="light" leftSection={icon} onClick={() => void copy()}>
          {label}
        </Button>
      ) : (
        <Tooltip label={label}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Copy ${what}`}
            onClick={() => void copy()}
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
