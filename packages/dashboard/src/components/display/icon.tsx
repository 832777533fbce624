// The icons of the dashboard, on a grid of 24 by 24.

const shapes = {
  halyard: "M7 21V3 M7 4l11 4-11 4 M4 21h6 M7 12c6 1 9 4 10 9",
  flag: "M5 21V4 M5 4h12l-2 4 2 4H5",
  compare: "M4 5h6v14H4z M14 5h6v14h-6z M4 10h6 M14 14h6",
  people:
    "M9 4a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z M2.5 20a6.5 6.5 0 0 1 13 0 M16 4.3a3.5 3.5 0 0 1 0 6.4 M18 13.8a6.5 6.5 0 0 1 3.5 6.2",
  person: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8z M4.5 20.5a7.5 7.5 0 0 1 15 0",
  webhook: "M8 9a4 4 0 1 1 6 2l3 5 M12 9l-3 6a4 4 0 1 1-3-1 M9 18h7a3 3 0 1 0 2-5",
  key: "M14 10a4 4 0 1 0-4 4 4 4 0 0 0 4-4z M13 13l7 7 M17 17l2-2 M7.5 8.5h0",
  pulse: "M3 12h4l3-8 4 16 3-8h4",
  program: "M4 5h16v14H4z M8 10l2.5 2.5L8 15 M13 15h3",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z M12 2v2 M12 20v2 M4 12H2 M22 12h-2 M5 5l1.5 1.5 M17.5 17.5L19 19 M5 19l1.5-1.5 M17.5 6.5L19 5",
  moon: "M20 14A8.5 8.5 0 0 1 10 4a8.5 8.5 0 1 0 10 10z",
  screen: "M3 5h18v11H3z M9 20h6 M12 16v4",
  leave: "M14 4h5v16h-5 M10 8l-4 4 4 4 M6 12h9",
  warning: "M12 4L2.5 20h19z M12 10v4 M12 17v0.5",
  copy: "M9 9h11v11H9z M5 15H4V4h11v1",
  check: "M5 12l5 5 9-10",
  cross: "M6 6l12 12 M18 6L6 18",
  plus: "M12 5v14 M5 12h14",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14z M16 16l5 5",
  book: "M12 6c-2-1.5-5-2-8-2v14c3 0 6 .5 8 2 2-1.5 5-2 8-2V4c-3 0-6 .5-8 2z M12 6v14",
  keyboard: "M3 6h18v12H3z M7 10h0 M11 10h0 M15 10h0 M7 14h10",
  chevron: "M8 10l4 4 4-4",
  up: "M8 14l4-4 4 4",
  more: "M5 12h0 M12 12h0 M19 12h0",
  grip: "M9 6h0 M15 6h0 M9 12h0 M15 12h0 M9 18h0 M15 18h0",
  back: "M14 6l-6 6 6 6",
  undo: "M8 5L4 9l4 4 M4 9h10a5 5 0 0 1 0 10h-3",
  trash: "M5 7h14 M9 7V4h6v3 M7 7l1 13h8l1-13 M10 11v5 M14 11v5",
  edit: "M4 20l1-5L16 4l4 4L9 19z M13 7l4 4",
  play: "M7 4l12 8-12 8z",
  pause: "M8 5v14 M16 5v14",
  rotate: "M20 12a8 8 0 1 1-3-6.2 M20 4v5h-5",
  history: "M4 12a8 8 0 1 0 2.6-5.9 M4 4v4.5h4.5 M12 8v4.5l3 2",
  proposal:
    "M6 4v12 M6 20v0 M3 17a3 3 0 1 0 6 0 3 3 0 0 0-6 0z M18 8v12 M15 7a3 3 0 1 0 6 0 3 3 0 0 0-6 0z M10 7h4",
  lock: "M6 11h12v9H6z M8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z M12 7v5l3 2",
} as const;

export type IconName = keyof typeof shapes;

interface IconProps {
  readonly name: IconName;
  readonly size?: number;
}

/** Hidden from screen readers: it always accompanies text or a labelled control. */
export const Icon = ({ name, size = 18 }: IconProps) => (
  <svg
    className="icon"
    width={size}
    height={size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth={1.9}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={shapes[name]} />
  </svg>
);
