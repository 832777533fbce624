// The entry point of `halyard`: runs a command of program.ts and reports the result.
import { debuglog } from "node:util";
import { CommanderError } from "commander";
import { createProgram } from "./program.ts";
import { codeOf, type ExitCode, exitCodes } from "./terminal/exit-codes.ts";
import {
  CommandFailed,
  jsonText,
  Previewed,
  Proposed,
  print,
  printJson,
  withoutControls,
} from "./terminal/output.ts";
import { ignoreClosedOutput } from "./terminal/output-closed.ts";

/** Errors with a message for users, and their exit codes. */
const foreseen: Readonly<Record<string, ExitCode>> = {
  StartupProblem: exitCodes.failed,
  InvalidSettings: exitCodes.usage,
  StoreUnavailable: exitCodes.unavailable,
};

const exitCodeFor = (error: unknown): ExitCode => {
  if (error instanceof CommandFailed) return error.exitCode;
  return (error instanceof Error ? foreseen[error.name] : undefined) ?? exitCodes.failed;
};

/** The error as a sentence. The stack trace of an unexpected error is shown only on request. */
const sentenceOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error instanceof CommandFailed || Object.hasOwn(foreseen, error.name)
    ? error.message
    : `${error.message}. This is an unexpected error; Set NODE_DEBUG=halyard to see the stack trace.`;
};

// `halyard keys list | head` must not fail, and `halyard flags disable a b c | true` must process the last flag.
ignoreClosedOutput();

// An older Node started this process. If that parent is gone, nothing else would stop it.
if (process.connected) {
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
}

/** With --json, the last line of standard error is the error as JSON. */
const wantsJson = process.argv.includes("--json");
const printErrorAsJson = (error: string, message: string, details?: unknown) =>
  console.error(jsonText({ error, message, ...(details !== undefined && { details }) }));

try {
  const program = await createProgram(process.argv[2], wantsJson);
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    if (wantsJson && error.exitCode !== 0) {
      printErrorAsJson(codeOf(exitCodes.usage), error.message.replace(/^error: /, ""));
    }
  } else if (error instanceof Proposed) {
    if (wantsJson) printJson({ proposed: error.request, server: error.server });
    else print(withoutControls(error.message));
  } else if (error instanceof Previewed) {
    if (wantsJson) printJson({ preview: error.preview });
    else print(withoutControls(error.message));
  } else {
    const exitCode = exitCodeFor(error);
    process.exitCode = exitCode;
    const { code = codeOf(exitCode), details } = error instanceof CommandFailed ? error : {};
    if (wantsJson) printErrorAsJson(code, sentenceOf(error), details);
    else console.error(`halyard: ${withoutControls(sentenceOf(error))}`);
    debuglog("halyard")("%o", error);
  }
}
