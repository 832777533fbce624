// Asks whether a change that the limit on flips has refused is wanted all the same; the answer is how many percent of people it may change.
import type { ChangePreview } from "@halyard/sdk/management";
import type { Ask } from "../components/feedback/confirm.tsx";
import { boundOf, largestShare, shareText } from "./flip-words.ts";
import { Flips } from "./flips.tsx";

/** Several requests that a person has asked for together. */
export interface Together {
  /** Before a question, and after it. */
  readonly onAsk: () => void;
  readonly onAnswer: () => void;
}

/** What was confirmed for one of them; 0 when the person did not want it. */
const answers = new WeakMap<Together, number>();

interface Refusal {
  readonly error: string;
  readonly message: string;
  /** Absent when the person has used up the previews of an hour. */
  readonly preview?: ChangePreview;
}

/** Without the second half, which tells programs how to go on. */
const forPeople = (message: string): string => message.replace(/; .*$/, ".");

const askOne = async (
  ask: Ask,
  text: string,
  together: Together | undefined,
): Promise<number | undefined> => {
  const { error, message, preview } = JSON.parse(text) as Refusal;
  if (error !== "TOO_MANY_FLIPS") return undefined;
  const largest = preview ? largestShare(preview) : 100;
  const given = together && answers.get(together);
  if (given === 0) return undefined;
  if (given !== undefined && largest <= given) return given;
  together?.onAsk();
  const isWanted = await ask({
    title: preview
      ? "More people change than the limit allows"
      : "The impact limit could not be checked",
    body: (
      <>
        <p className="confirm-sentence">{forPeople(message)}</p>
        {preview && <Flips preview={preview} />}
      </>
    ),
    confirmLabel: preview ? `Change ${shareText(largest)} of people anyway` : "Change anyway",
    danger: true,
    careful: true,
  });
  together?.onAnswer();
  const bound = isWanted ? (preview ? boundOf(preview) : 100) : 0;
  if (together) answers.set(together, bound);
  return isWanted ? bound : undefined;
};

let last: Promise<unknown> = Promise.resolve();

/** One question after the other. `text` is the body of the refusal. Undefined when the person does not want it. */
export const confirmFlips = (
  ask: Ask,
  text: string,
  together: Together | undefined,
): Promise<number | undefined> => {
  const answer = last.then(() => askOne(ask, text, together));
  last = answer.catch(() => undefined);
  return answer;
};
