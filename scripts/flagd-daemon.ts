// A flagd daemon (Go) that FLAGD_BIN names evaluates our definition: it gives what core gives. Run by `npm run test:flagd`.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { JsonObject, World } from "../conformance/reference/conditions.ts";
import { referenceAnswer } from "../conformance/reference/evaluate.ts";
import { compileFlagd, type FlagdContent } from "../packages/core/src/flagd/index.ts";
import { promises } from "../packages/core/test/support/flagd-engine.ts";
import { randomWorld } from "../packages/core/test/support/random-world.ts";

const worlds = 150;
const rare = 4;
const binary = process.env.FLAGD_BIN;

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, "close");
  return port;
};

interface Daemon {
  readonly url: string;
  readonly child: ChildProcess;
}

const start = async (path: string, file: string): Promise<Daemon> => {
  const ports = [await freePort(), await freePort(), await freePort(), await freePort()].map(
    String,
  );
  const [port = "", management = "", sync = "", ofrep = ""] = ports;
  const options = ["--port", port, "--management-port", management, "--sync-port", sync];
  const child = spawn(path, ["start", "--uri", `file:${file}`, ...options, "--ofrep-port", ofrep], {
    stdio: "ignore",
  });
  for (let attempt = 0; attempt < 200 && child.exitCode === null; attempt += 1) {
    const ready = await fetch(`http://127.0.0.1:${management}/readyz`).catch(() => undefined);
    if (ready?.ok) return { url: `http://127.0.0.1:${ofrep}`, child };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  child.kill();
  throw new Error("flagd did not become ready.");
};

const ask = async ({ url }: Daemon, key: string, context: JsonObject): Promise<JsonObject> => {
  const response = await fetch(`${url}/ofrep/v1/evaluate/flags/${key}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ context }),
  });
  return (await response.json()) as JsonObject;
};

/** How many were compared; throws at the first difference. */
const compareWorld = async (
  path: string,
  folder: string,
  world: World,
  contexts: readonly JsonObject[],
): Promise<number> => {
  const content = {
    flags: Object.values(world.flags),
    segments: Object.values(world.segments),
  } as unknown as FlagdContent;
  const { flags, text } = compileFlagd(content, "production");
  const file = join(folder, "flags.json");
  writeFileSync(file, text);
  const isPromised = promises(world);
  const daemon = await start(path, file);
  let compared = 0;
  try {
    const present = flags.find((each) => each.class !== "left-out");
    // It says that it is ready before it has read the file.
    while (present && (await ask(daemon, present.key, {})).errorCode === "FLAG_NOT_FOUND")
      await new Promise((resolve) => setTimeout(resolve, 10));
    for (const told of flags) {
      for (const context of contexts.filter((each) => isPromised(told, each))) {
        const expected = referenceAnswer(world.flags[told.key] as JsonObject, context, world);
        const found = await ask(daemon, told.key, context);
        const isSame =
          "errorCode" in expected
            ? found.errorCode !== undefined
            : found.variant === expected.variant && isDeepStrictEqual(found.value, expected.value);
        if (!isSame) throw new Error(JSON.stringify({ flag: told.key, context, expected, found }));
        compared += 1;
      }
    }
  } finally {
    daemon.child.kill();
    if (daemon.child.exitCode === null) await once(daemon.child, "exit");
  }
  return compared;
};

if (binary === undefined) {
  console.log("Not run: FLAGD_BIN names no flagd binary.");
} else {
  const folder = mkdtempSync(join(tmpdir(), "halyard-flagd-"));
  try {
    let compared = 0;
    for (let seed = 1; seed <= worlds; seed += 1) {
      const { world, contexts } = randomWorld(seed, { rare });
      compared += await compareWorld(binary, folder, world, contexts);
    }
    console.log(`${compared} evaluations of ${binary} are the same as ours, none is different.`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
