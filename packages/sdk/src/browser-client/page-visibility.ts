// Whether the page is looked at, where there is a page.

interface Page {
  readonly visibilityState: string;
  addEventListener(name: "visibilitychange", listener: () => void): void;
  removeEventListener(name: "visibilitychange", listener: () => void): void;
}

/** Tells of every change; the function given back ends that. */
export const watchVisibility = (onChange: (isVisible: boolean) => void): (() => void) => {
  const page = (globalThis as { document?: Partial<Page> }).document as Page | undefined;
  if (typeof page?.addEventListener !== "function") return () => {};
  const listener = () => onChange(page.visibilityState !== "hidden");
  page.addEventListener("visibilitychange", listener);
  return () => page.removeEventListener("visibilitychange", listener);
};
