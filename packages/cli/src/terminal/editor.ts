// Lets the user edit a text in their editor, in a temporary file that other users can't read.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isAtTerminal } from "./ask.ts";
import { exitCodes } from "./exit-codes.ts";
import { CommandFailed } from "./output.ts";

/** The configured editor. At a terminal, vi is the default. */
const editorOf = ({ VISUAL, EDITOR } = process.env): string => {
  const editor = VISUAL || EDITOR;
  if (editor) return editor;
  if (isAtTerminal()) return "vi";
  throw new CommandFailed(
    "No editor is configured: set VISUAL or EDITOR, such as EDITOR=nano, or run the command at a terminal.",
    exitCodes.usage,
  );
};

/** The editor can be a command with options. */
const open = async (editor: string, file: string): Promise<void> => {
  const isWindows = process.platform === "win32";
  const child = isWindows
    ? spawn(`${editor} "${file}"`, { shell: true, stdio: "inherit" })
    : spawn("/bin/sh", ["-c", `${editor} "$0"`, file], { stdio: "inherit" });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code === 0) return;
  throw new CommandFailed(
    `The editor "${editor}" exited with ${code ?? "a signal"}: nothing was changed.`,
  );
};

export interface EditedText {
  readonly file: string;
  /** Opens the editor, and returns the saved text. */
  edit(text: string): Promise<string>;
  /** Deletes the file. Don't call it if the user may still need the text. */
  remove(): void;
}

export const createEditedText = (name: string): EditedText => {
  const editor = editorOf();
  const file = join(mkdtempSync(join(tmpdir(), "halyard-")), name);
  const remove = () => rmSync(dirname(file), { recursive: true, force: true });
  return {
    file,
    async edit(text) {
      writeFileSync(file, text, { mode: 0o600 });
      await open(editor, file).catch((error: unknown) => {
        remove();
        throw error;
      });
      return readFileSync(file, "utf8");
    },
    remove,
  };
};
