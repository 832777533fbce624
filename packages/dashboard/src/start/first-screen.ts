// The flags as plain text, on the screen until the application has arrived and takes their place.
import "./first-screen.css";

interface Snapshot {
  readonly environment: string;
  readonly flags: readonly {
    readonly flag: {
      readonly key: string;
      readonly enabled: boolean;
      readonly description?: string;
    };
  }[];
}

const element = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  ...content: readonly (string | Node)[]
): HTMLElementTagNameMap[Name] => {
  const made = document.createElement(name);
  made.className = className;
  made.append(...content);
  return made;
};

const rowOf = (environment: string, { flag }: Snapshot["flags"][number]): HTMLElement => {
  const key = element("a", "first-screen-key", flag.key);
  key.href = `/environments/${environment}/flags/${encodeURIComponent(flag.key)}`;
  return element(
    "li",
    "first-screen-row",
    element("span", "first-screen-state", flag.enabled ? "On" : "Off"),
    element("div", "first-screen-words", key, element("span", "", flag.description ?? "")),
  );
};

/** At least; the style gives the height of a row. */
const rowHeight = 64;

/** Only the list without search and filters: anything else is the application's. */
export const hasFirstScreen = ({ pathname, search }: Location): boolean =>
  /^(\/environments\/[^/]+)?(\/|\/flags)?$/.test(pathname) && search === "";

export const showFirstScreen = (root: HTMLElement, snapshot: Snapshot): void => {
  const { environment, flags } = snapshot;
  if (flags.length === 0) return;
  const shown = flags
    .toSorted(({ flag: one }, { flag: other }) => (one.key < other.key ? -1 : 1))
    .slice(0, Math.ceil(window.innerHeight / rowHeight));
  const list = element("ul", "", ...shown.map((entry) => rowOf(environment, entry)));
  const screen = element(
    "main",
    "first-screen",
    element("h1", "", "Flags"),
    element("p", "", `${flags.length.toLocaleString("en-US")} in ${environment}`),
    list,
  );
  screen.ariaBusy = "true";
  // Where the application keeps the theme that the user chose.
  const chosen = localStorage.getItem("mantine-color-scheme-value");
  const { matches: systemIsDark } = matchMedia("(prefers-color-scheme: dark)");
  if (chosen === "dark" || (chosen !== "light" && systemIsDark)) screen.dataset.theme = "dark";
  root.replaceChildren(screen);
};
