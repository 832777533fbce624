// Dragging a row of a list with the mouse, a finger or a pen: where it would be dropped, and the drop.
import { type PointerEvent, useRef, useState } from "react";

export interface Drag {
  readonly from: number;
  /** The place that it would have. */
  readonly to: number;
}

interface UseDrag {
  readonly drag: Drag | undefined;
  readonly start: (index: number, event: PointerEvent<HTMLElement>) => void;
}

/** The place among the others of what is held at this height. */
const placeAt = (list: HTMLElement, from: number, height: number): number =>
  [...list.children].filter((row, index) => {
    const { top, bottom } = row.getBoundingClientRect();
    return index !== from && (top + bottom) / 2 < height;
  }).length;

export const useDrag = (
  list: { readonly current: HTMLElement | null },
  onDrop: (from: number, to: number) => void,
): UseDrag => {
  const [drag, setDrag] = useState<Drag | undefined>();
  const latest = useRef<Drag | undefined>(undefined);
  const start = (from: number, { button, pointerId, currentTarget }: PointerEvent<HTMLElement>) => {
    if (button !== 0) return;
    const grip: HTMLElement = currentTarget;
    const ended = new AbortController();
    const { signal } = ended;
    const show = (next: Drag | undefined) => {
      latest.current = next;
      setDrag(next);
    };
    const end = () => {
      ended.abort();
      show(undefined);
    };
    const drop = () => {
      const dropped = latest.current;
      end();
      if (dropped !== undefined && dropped.to !== dropped.from) onDrop(dropped.from, dropped.to);
    };
    grip.setPointerCapture(pointerId);
    grip.addEventListener(
      "pointermove",
      ({ clientY }) => {
        if (list.current !== null) show({ from, to: placeAt(list.current, from, clientY) });
      },
      { signal },
    );
    grip.addEventListener("pointerup", drop, { signal });
    grip.addEventListener("pointercancel", end, { signal });
    grip.addEventListener("keydown", ({ key }) => key === "Escape" && end(), { signal });
  };
  return { drag, start };
};
