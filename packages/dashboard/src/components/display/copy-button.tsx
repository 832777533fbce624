// Puts a text onto the clipboard and says so.
import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { useEffect, useState } from "react";
import { Icon } from "./icon.tsx";

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, such as "the secret". */
  readonly what: string;
  /** With words on it, where it is the main thing to do. */
  readonly wide?: boolean;
}

const saidFor = 2_000;

export const CopyButton = ({ text, what, wide = false }: CopyButtonProps) => {
  const [state, setState] = useState<"idle" | "copied" | "refused">("idle");
  useEffect(() => {
    if (state === "idle") return;
    const timer = setTimeout(() => setState("idle"), saidFor);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setState("copied");
    } catch {
      setState("refused");
    }
  };
  const words = {
    idle: `Copy ${what}`,
    copied: "Copied",
    refused: "The browser refused: select the text and copy it",
  }[state];
  const icon = <Icon name={state === "copied" ? "check" : "copy"} size={16} />;
  return (
    <>
      {wide ? (
        <Button variant="light" leftSection={icon} onClick={() => void copy()}>
          {words}
        </Button>
      ) : (
        <Tooltip label={words}>
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
        {state === "idle" ? "" : words}
      </span>
    </>
  );
};
