// Keyboard shortcuts of a page: single keys, ignored while the user types and behind dialogs.
import { useEffect, useEffectEvent } from "react";

const isTyping = (target: EventTarget | null): boolean => {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest("textarea, select, [role=menu]")) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio"].includes(target.type);
};

export const usePageKeys = (keys: Readonly<Record<string, () => void>>): void => {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTyping(event.target) || document.querySelector('[role="dialog"]') !== null) return;
    const run = keys[event.key];
    if (run === undefined) return;
    event.preventDefault();
    run();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKey(event);
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, []);
};
