// Reaches and uses whatever a mouse would click, with keys alone: Tab to it, arrows inside lists and groups, then Enter or Space.
import type { Locator, Page } from "playwright-core";

/** Nobody presses more: what takes more is not reached. */
const mostKeys = 120;

type Kind = "option" | "menuitem" | "radio" | "checkbox" | "list" | "text" | "button";

/** As much of an element as is asked for. */
interface Control {
  readonly id: string;
  readonly role: string | null;
  readonly name?: string;
  readonly type?: string;
  readonly readOnly?: boolean;
  readonly ownerDocument: { readonly activeElement: Control };
  matches(selector: string): boolean;
  getAttribute(name: string): string | null;
  compareDocumentPosition(other: Control): number;
}

interface Look {
  readonly kind: Kind;
  readonly isFocused: boolean;
  /** Of an option: the keyboard is on it while the focus stays in the field. */
  readonly isActive: boolean;
  /** Tab stops once in a group of radio buttons. */
  readonly isInGroup: boolean;
  /** Whether the focus is behind it. */
  readonly isPassed: boolean;
}

const lookAt = (target: Locator): Promise<Look> =>
  target.evaluate((element) => {
    const control = element as unknown as Control;
    const focus = control.ownerDocument.activeElement;
    const kindOf = (): string => {
      if (control.role === "option" || control.role === "menuitem") return control.role;
      if (!control.matches("input, textarea")) return "button";
      if (control.type === "radio" || control.type === "checkbox") return control.type;
      return control.readOnly === true ? "list" : "text";
    };
    const preceding = 2;
    return {
      kind: kindOf() as Kind,
      isFocused: focus === control,
      isActive: focus.getAttribute("aria-activedescendant") === control.id,
      isInGroup: focus.name === control.name,
      isPassed: (focus.compareDocumentPosition(control) & preceding) !== 0,
    };
  });

export interface Reached {
  /** How many keys it took to come there. */
  readonly pressed: number;
  /** What does as a click would; none when the focus is all. */
  readonly use: string | undefined;
}

const uses = {
  option: "Enter",
  menuitem: "Enter",
  radio: "Space",
  checkbox: "Space",
  list: "ArrowDown",
  text: undefined,
  button: "Enter",
} as const;

export const reach = async (page: Page, target: Locator): Promise<Reached> => {
  await target.waitFor({ state: "attached" });
  const { kind, isPassed } = await lookAt(target);
  let pressed = 0;
  const pressUntil = async (key: string, is: "isFocused" | "isActive" | "isInGroup") => {
    for (; !(await lookAt(target))[is]; pressed += 1) {
      if (pressed === mostKeys)
        throw new Error(`not reached with the keyboard: ${target.toString()}`);
      await page.keyboard.press(key);
    }
  };
  // The shorter way is the one towards it.
  const tab = isPassed ? "Shift+Tab" : "Tab";
  if (kind === "option") await pressUntil("ArrowDown", "isActive");
  else if (kind === "menuitem") await pressUntil("ArrowDown", "isFocused");
  else if (kind === "radio") {
    await pressUntil(tab, "isInGroup");
    await pressUntil("ArrowDown", "isFocused");
  } else await pressUntil(tab, "isFocused");
  return { pressed, use: uses[kind] };
};
