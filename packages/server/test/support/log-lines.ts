// The log of a process, as an operator's collector reads it: the lines that are JSON, beside what is said to a person.

type Word =
  | "msg"
  | "audit"
  | "environment"
  | "subject"
  | "id"
  | "keyId"
  | "keyName"
  | "userId"
  | "userName"
  | "reason"
  | "reqId"
  | "address"
  | "method"
  | "route"
  | "path";
type Figure = "level" | "version" | "sequence" | "status" | "milliseconds";

export type LogLine = { readonly [name in Word]?: string } & {
  readonly [name in Figure]?: number;
} & { readonly keyIds?: readonly string[] };

/** As they stand. */
export const logText = (stdout: string): string =>
  stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .join("\n");

export const logLines = (stdout: string): LogLine[] =>
  logText(stdout)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as LogLine);
