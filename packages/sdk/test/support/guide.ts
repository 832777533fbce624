// The code blocks of docs/webhooks.md, and programs made of them that are started, queried and stopped.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
export const guide = readFileSync(join(root, "docs/webhooks.md"), "utf8");

/** The text of the block that has this title. */
export const block = (title: string): string => {
  const found = [...guide.matchAll(/^```\w+ title="([^"]+)"\n(.*?)^```$/gms)]
    .filter((match) => match[1] === title)
    .map((match) => match[2] ?? "");
  if (found.length !== 1) throw new Error(`docs/webhooks.md has ${found.length} blocks ${title}`);
  return found.join("");
};

/** False when the command runs here, otherwise why the test is skipped. */
export const missing = (command: string, ...args: string[]): false | string =>
  spawnSync(command, args).status === 0 ? false : `${command} is not installed`;

/** A folder with these files, where packages are found as in the repository. */
export const folderOf = (context: TestContext, files: Readonly<Record<string, string>>): string => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-guide-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
};

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
};

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true));
    socket.on("connect", () => socket.destroy()).on("error", () => resolve(false));
  });

export interface Receiver {
  readonly url: string;
  /** What it has printed so far. */
  readonly output: () => string;
}

/** Starts a receiver and waits until it can be reached; `{port}` in an argument stands for its port. */
export const startReceiver = async (
  context: TestContext,
  folder: string,
  secret: string,
  command: string,
  ...args: string[]
): Promise<Receiver> => {
  const port = await freePort();
  const child = spawn(
    command,
    args.map((argument) => argument.replace("{port}", String(port))),
    {
      cwd: folder,
      env: { ...process.env, PORT: String(port), HALYARD_WEBHOOK_SECRET: secret },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const exited = once(child, "exit");
  context.after(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`${command} ended: ${output}`);
    await pause(20);
  }
  return { url: `http://127.0.0.1:${port}/hooks/flags`, output: () => output };
};

/** Waits until the receiver has printed the text; the test's own time limit ends a vain wait. */
export const printed = async (receiver: Receiver, text: string): Promise<void> => {
  while (!receiver.output().includes(text)) await pause(10);
};
