// Where the focus goes in a list of rows: to a row that is added, and from a row that is removed to the next one.
import { useLayoutEffect, useRef } from "react";

/** `rows` finds the rows below `box`; the button that adds one has the attribute `data-add`. */
export const useRowFocus = <Box extends HTMLElement>(rows: string) => {
  const box = useRef<Box>(null);
  const wanted = useRef<"added" | number | undefined>(undefined);
  useLayoutEffect(() => {
    const at = wanted.current;
    if (at === undefined) return;
    wanted.current = undefined;
    const list = [...(box.current?.querySelectorAll(rows) ?? [])];
    const found =
      at === "added"
        ? list.at(-1)?.querySelector<HTMLElement>("input")
        : list[at]?.querySelector<HTMLElement>("button");
    (found ?? box.current?.querySelector<HTMLElement>("[data-add]"))?.focus();
  });
  return {
    box,
    /** Call them together with the change: the focus goes along once it is on the page. */
    adding: () => {
      wanted.current = "added";
    },
    removing: (index: number) => {
      wanted.current = index;
    },
  };
};
