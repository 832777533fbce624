// The results of tools: a sentence from Halyard, and the data as JSON. Stored texts appear only in the data.
import type { ManagementError } from "@halyard/sdk/management";

/** The result of a tool, in the format of the protocol. */
export interface ToolResult {
  // The protocol's type allows further fields.
  [member: string]: unknown;
  content: { type: "text"; text: string }[];
  structuredContent: Record<string, unknown>;
  isError?: boolean;
}

type Data = Readonly<Record<string, unknown>>;

/** Invisible characters, which models can read. JSON escapes make them visible. */
const unseen = /[\p{Cf}\p{Co}\p{Cn}\u007f-\u009f\u2028\u2029]/gu;
const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
  ).join("");

const jsonText = (data: Data): string => JSON.stringify(data, null, 2).replace(unseen, escaped);

/** `sentence` contains only Halyard's own words and numbers, and no stored texts. */
export const toolResult = (sentence: string, data: Data): ToolResult => ({
  content: [
    { type: "text", text: sentence },
    { type: "text", text: jsonText(data) },
  ],
  structuredContent: { ...data },
});

export const toolError = (sentence: string, data: Data): ToolResult => ({
  ...toolResult(sentence, data),
  isError: true,
});

/** Exact counts could reveal contexts that an admin key can read, so an assistant gets only rounded ones. */
const rejection = ({ code, message, details, preview }: ManagementError): Data => {
  if (preview !== undefined && preview.rounded !== true) {
    return {
      code,
      message: "The change affects more users than the impact limit allows. Preview it for counts.",
    };
  }
  return { code, message, ...(details && { details }), ...(preview && { preview }) };
};

/** Errors that leave open whether the server applied a change. */
const uncertain: ReadonlySet<ManagementError["code"]> = new Set([
  "UNREACHABLE",
  "ABORTED",
  "UNAVAILABLE",
  "INTERNAL",
  "UNEXPECTED_ANSWER",
] as const);

/** An error from the server. Its message can repeat stored names, so it is part of the data. */
export const serverError = (error: ManagementError): ToolResult => {
  const { code } = error;
  const sentence = uncertain.has(code)
    ? `The outcome is unknown (${code}). If this call was a change, check whether it was applied before you try again.`
    : `Halyard rejected this call with ${code}. It changed nothing.`;
  return toolError(sentence, { error: rejection(error) });
};

/** The hint to read the next page of a list. */
export const moreText = (next: string | undefined): string =>
  next === undefined ? "" : " There are more: call again with the cursor.";

/** Such as `1 flag` or `2 flags`. */
export const count = (number: number, thing: string): string =>
  `${number} ${thing}${number === 1 ? "" : "s"}`;
