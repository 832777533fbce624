// The process of `halyard`: runs the command that program.ts describes, and says how it ended.
import { debuglog } from "node:util";
import { CommanderError } from "commander";
import { finishProgram, newProgram } from "./program-frame.ts";
import { codeOf, exitCodes } from "./terminal/exit-codes.ts";
import { CommandFailed, withoutControls } from "./terminal/output.ts";
import { outliveReaders } from "./terminal/reader-left.ts";

/** For a person; the trace of what nobody foresaw is shown when it is asked for. */
const sentenceOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return ["StartupProblem", "CommandFailed", "StoreUnavailable"].includes(error.name)
    ? error.message
    : `${error.message}. This was not foreseen; NODE_DEBUG=halyard shows where it happened.`;
};

// `halyard keys list | head` is no failure, and `halyard flags disable a b c | true` is to reach the last of them.
outliveReaders();

// Started by an older Node that stands between us and the caller: when it is gone, nobody can stop us but ourselves.
if (process.connected) {
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
}

/** A script that asked for JSON gets the error so too: the last line of standard error. */
const wantsJson = process.argv.includes("--json");
const sayAsJson = (error: string, message: string, details?: unknown) =>
  console.error(JSON.stringify({ error, message, ...(details !== undefined && { details }) }));

/** A server runs for long: it keeps nothing of the other commands in its memory. */
const programFor = async (command: string | undefined) => {
  if (command !== "serve") return (await import("./program.ts")).createProgram(wantsJson);
  const { serveCommand } = await import("./commands/operator/serve.ts");
  return finishProgram(newProgram().addCommand(serveCommand()), wantsJson);
};

try {
  const program = await programFor(process.argv[2]);
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    if (wantsJson && error.exitCode !== 0) {
      sayAsJson(codeOf(exitCodes.usage), error.message.replace(/^error: /, ""));
    }
  } else {
    const failed = error instanceof CommandFailed ? error : undefined;
    const isAway = error instanceof Error && error.name === "StoreUnavailable";
    process.exitCode = failed?.exitCode ?? (isAway ? exitCodes.unavailable : exitCodes.failed);
    if (wantsJson) sayAsJson(failed?.code ?? "FAILED", sentenceOf(error), failed?.details);
    else console.error(`halyard: ${withoutControls(sentenceOf(error))}`);
    debuglog("halyard")("%o", error);
  }
}
