// Reads the lines of a history export, from a file or from a server in parts.
import { createReadStream } from "node:fs";
import type { ExportLine } from "@halyard/core/history/chain";
import { answered, type Connection } from "../../server-connection/connection.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed } from "../../terminal/output.ts";

const parse = (text: string, place: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandFailed(`${place} is not a JSON line.`, exitCodes.usage);
  }
};

/** Only line feeds end a line. node:readline would also split at other separators, which texts can contain. */
async function* cutLines(path: string): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of createReadStream(path, "utf8")) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield rest;
}

/** The lines of a file that are not empty. */
export async function* linesOfFile(path: string): AsyncGenerator<unknown> {
  let number = 0;
  try {
    for await (const line of cutLines(path)) {
      number += 1;
      if (line.trim() !== "") yield parse(line, `Line ${number} of ${path}`);
    }
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw new CommandFailed(`${path} cannot be read (${error.message}).`, exitCodes.notFound);
  }
}

export async function* partsOfServer(connection: Connection): AsyncGenerator<string> {
  for await (const page of connection.management.historyExport()) yield answered(connection, page);
}

export async function* linesOfServer(connection: Connection): AsyncGenerator<ExportLine> {
  for await (const text of partsOfServer(connection)) {
    for (const line of text.split("\n")) {
      if (line !== "") yield parse(line, "A line of the export") as ExportLine;
    }
  }
}
