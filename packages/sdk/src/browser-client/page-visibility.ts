// Whether the page is visible; does nothing outside a browser.

interface Page {
  readonly visibilityState: string;
  addEventListener(name: "visibilitychange", listener: () => void): void;
  removeEventListener(name: "visibilitychange", listener: () => void): void;
}

/** Returns the function that removes the listener. */
export const watchVisibility = (onChange: (isVisible: boolean) => void): (() => void) => {
  const page = (globalThis as { document?: Partial<Page> }).document as Page | undefined;
  if (typeof page?.addEventListener !== "function") return () => {};
  const listener = () => onChange(page.visibilityState !== "hidden");
  page.addEventListener("visibilitychange", listener);
  return () => page.removeEventListener("visibilitychange", listener);
};
