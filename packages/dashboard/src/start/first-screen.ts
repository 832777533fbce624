// The flags as plain text, over the application until that has its own on the screen.
import { isProductionName } from "@halyard/core/environment-name";
import "./first-screen.css";

export interface Snapshot {
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

/** What to show until the application can: the flags, or without them that it is loading. */
export const firstScreen = (snapshot?: Snapshot): HTMLElement => {
  const screen = element("main", "first-screen");
  screen.ariaBusy = "true";
  // Where the application keeps the theme that the user chose.
  const chosen = localStorage.getItem("mantine-color-scheme-value");
  const { matches: systemIsDark } = matchMedia("(prefers-color-scheme: dark)");
  if (chosen === "dark" || (chosen !== "light" && systemIsDark)) screen.dataset.theme = "dark";
  if (snapshot === undefined) {
    screen.append(element("h1", "", "Halyard"), element("p", "", "Loading…"));
    return screen;
  }
  const { environment, flags } = snapshot;
  if (isProductionName(environment)) screen.dataset.production = "";
  const shown = flags
    .toSorted(({ flag: one }, { flag: other }) => (one.key < other.key ? -1 : 1))
    .slice(0, Math.ceil(window.innerHeight / rowHeight));
  screen.append(
    element("h1", "", "Flags"),
    element("p", "", `${flags.length.toLocaleString("en")} in ${environment}`),
    element("ul", "", ...shown.map((entry) => rowOf(environment, entry))),
  );
  return screen;
};

export const failureScreen = (retry: () => void): HTMLElement => {
  const again = element("button", "", "Try again");
  again.addEventListener("click", retry);
  const screen = element(
    "main",
    "first-screen",
    element("h1", "", "The dashboard could not be loaded"),
    again,
  );
  screen.role = "alert";
  return screen;
};
