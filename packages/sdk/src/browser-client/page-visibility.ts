// Watches whether the page is visible; does nothing outside a browser.

type Listen = (name: "visibilitychange", listener: () => void) => void;
/** Some runtimes define a document without events. */
interface Page {
  readonly visibilityState?: string;
  readonly addEventListener?: Listen;
  readonly removeEventListener?: Listen;
}

/** Returns the function that removes the listener. */
export const watchVisibility = (onChange: (isVisible: boolean) => void): (() => void) => {
  const { document: page } = globalThis as { document?: Page };
  const listener = () => onChange(page?.visibilityState !== "hidden");
  page?.addEventListener?.("visibilitychange", listener);
  return () => page?.removeEventListener?.("visibilitychange", listener);
};
