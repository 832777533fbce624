// What must be corrected before the targeting can be saved; each leads to its field.
import type { ValidationError } from "@halyard/core/targeting/mistakes";
import { Anchor } from "@mantine/core";
import type { Ref } from "react";
import { type DraftRule, nameOfPlace } from "./targeting-draft.ts";

interface MistakeSummaryProps {
  readonly ref: Ref<HTMLDivElement>;
  readonly mistakes: readonly ValidationError[];
  /** What the server said without naming a place. */
  readonly message: string | undefined;
  readonly rules: readonly DraftRule[];
  readonly onGo: (place: string) => void;
}

export const MistakeSummary = ({ ref, mistakes, message, rules, onGo }: MistakeSummaryProps) => {
  const count = mistakes.length;
  return (
    <section className="mistakes" ref={ref} tabIndex={-1} aria-label="Not saved yet">
      {count > 0 && (
        <strong>
          {count === 1 ? "One thing" : `${count} things`} to correct before this can be saved
        </strong>
      )}
      {count === 0 && <strong>Not saved: {message}</strong>}
      <ul>
        {mistakes.map(({ place, message: text }) => (
          <li key={`${place} ${text}`}>
            <Anchor component="button" type="button" inherit onClick={() => onGo(place)}>
              {nameOfPlace(place, rules)}
            </Anchor>{" "}
            {text}.
          </li>
        ))}
      </ul>
    </section>
  );
};

/** The innermost field that the place lies in gets the focus. */
export const focusPlace = (form: HTMLElement, place: string): void => {
  const around = [...form.querySelectorAll<HTMLElement>("[data-place]")]
    .map((element) => ({ element, at: element.dataset.place ?? "" }))
    .filter(({ at }) => place === at || place.startsWith(`${at}.`) || place.startsWith(`${at}[`))
    .sort((one, other) => other.at.length - one.at.length);
  for (const { element } of around) {
    const isField = element.matches("input, select, textarea");
    const field = isField
      ? element
      : element.querySelector<HTMLElement>(":is(input, select, textarea):not([type=hidden])");
    const target = field ?? element.querySelector<HTMLElement>("button");
    if (target === null) continue;
    target.focus();
    return;
  }
};
