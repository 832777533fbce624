// How tools answer: a sentence of ours, and beside it the data as JSON. Texts that people have stored are only ever in the data.
import type { ManagementError } from "@halyard/sdk/management";

/** What a tool returns, as the protocol has it. */
export interface Answer {
  // The protocol's type is open.
  [member: string]: unknown;
  content: { type: "text"; text: string }[];
  structuredContent: Record<string, unknown>;
  isError?: boolean;
}

type Data = Readonly<Record<string, unknown>>;

/** Characters that nobody sees, and a model reads: as JSON escapes everybody sees them. */
const unseen = /[\p{Cf}\p{Co}\p{Cn}\u007f-\u009f\u2028\u2029]/gu;
const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
  ).join("");

const jsonText = (data: Data): string => JSON.stringify(data, null, 2).replace(unseen, escaped);

/** `sentence` holds words of ours and numbers, nothing that anybody has stored. */
export const answer = (sentence: string, data: Data): Answer => ({
  content: [
    { type: "text", text: sentence },
    { type: "text", text: jsonText(data) },
  ],
  structuredContent: { ...data },
});

export const refusal = (sentence: string, data: Data): Answer => ({
  ...answer(sentence, data),
  isError: true,
});

/** Exact counts could spell out the contexts that the key of an admin may read, so an assistant gets rounded ones only. */
const rejection = ({ code, message, details, preview }: ManagementError): Data => {
  if (preview !== undefined && preview.rounded !== true) {
    return {
      code,
      message: "The change affects more users than the impact limit allows. Preview it for counts.",
    };
  }
  return { code, message, ...(details && { details }), ...(preview && { preview }) };
};

/** After these nobody knows whether the server has done what it was asked for. */
const uncertain: ReadonlySet<ManagementError["code"]> = new Set([
  "UNREACHABLE",
  "ABORTED",
  "UNAVAILABLE",
  "INTERNAL",
  "UNEXPECTED_ANSWER",
] as const);

/** What the server has refused. Its message can repeat names that people gave, so it is data too. */
export const refusedByServer = (error: ManagementError): Answer => {
  const { code } = error;
  const sentence = uncertain.has(code)
    ? `There was no clear answer (${code}). If this was to change something, look whether it did before you try again.`
    : `Halyard refused this with ${code}. Nothing was changed by this call.`;
  return refusal(sentence, { error: rejection(error) });
};

/** What follows a page of a list. */
export const moreText = (next: string | undefined): string =>
  next === undefined ? "" : " There are more: call again with cursor.";

/** `1 flag`, `2 flags`. */
export const count = (number: number, thing: string): string =>
  `${number} ${thing}${number === 1 ? "" : "s"}`;
