// halyard serve and halyard open print where to sign in to the dashboard, with a one-time link if possible.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { type RunningServer, serveHalyard } from "../../server/test/support/halyard-process.ts";
import { newFolder } from "../../server/test/support/server.ts";
import { storeSettings } from "../../server/test/support/test-store.ts";
import { createRunner } from "./support/command-runner.ts";
import { noTerminal, runAtTerminal } from "./support/terminal.ts";

const folders: string[] = [];
const started: RunningServer[] = [];
after(() => {
  for (const server of started) server.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** The output of a start about the dashboard, and the whole output once the server has exited. */
const start = async (settings: Record<string, string> = {}) => {
  const folder = newFolder();
  folders.push(folder);
  const server = await serveHalyard(folder, settings);
  started.push(server);
  const [, address = ""] = await server.printed(/^ {2}Dashboard {2}(\S+)$/m);
  const end = async (): Promise<string> => {
    server.kill("SIGTERM");
    const { code, stdout } = await server.ended;
    assert.equal(code, 0);
    return stdout;
  };
  return { server, folder, address, end };
};

/** The environments that opening the link signs in to; undefined if it doesn't sign in. */
const open = async (address: string): Promise<string[] | undefined> => {
  const headers = { connection: "close" };
  const answer = await fetch(address, { redirect: "manual", headers });
  const cookie = answer.headers.getSetCookie()[0]?.split(";")[0];
  if (cookie === undefined) return undefined;
  const session = await fetch(new URL("/session", address), { headers: { ...headers, cookie } });
  const { environments } = (await session.json()) as { environments: { name: string }[] };
  return environments.map(({ name }) => name);
};

test("the printed link signs in once, to the environments that this start created", async () => {
  const { server, address, end } = await start();
  assert.ok(address.startsWith(`${server.url}/sign-in?once=`), address);
  assert.deepEqual(await open(address), ["development", "production"]);
  assert.equal(await open(address), undefined);
  const output = await end();
  assert.match(output, /signs you in once/);
});

test("several workers print one link, and one of them accepts it", async () => {
  const { address, end } = await start({ HALYARD_WORKERS: "2" });
  const opened = await Promise.all(Array.from({ length: 6 }, () => open(address)));
  assert.equal(opened.filter((environments) => environments !== undefined).length, 1);
  assert.equal((await end()).match(/sign-in\?once=/g)?.length, 1);
});

test("no link is printed if other users can read the output", async () => {
  const { server, address, end } = await start({ HOST: "0.0.0.0" });
  assert.equal(address, server.url);
  const output = await end();
  assert.match(output, /Sign in with an API key/);
  assert.doesNotMatch(output, /once=/);
});

test("without any key, the operator creates one, and opens the dashboard without one", async () => {
  const { server, folder, end } = await start();
  const { port } = new URL(server.url);
  const here = {
    ...(await storeSettings(folder)),
    HALYARD_CONFIG: join(folder, "no-profiles.json"),
    PORT: port,
  };
  const halyard = createRunner(here);
  await halyard.refuse(["keys", "create"], 2, /^halyard: A key needs a role and a name, such as/);
  const named = ["keys", "create", "-r", "admin", "-n", "me"];
  await halyard.refuse(named, 4, /On the server's machine, --environment NAME works/);
  if (noTerminal === false) {
    // Ctrl-C cancels.
    const interrupted = await runAtTerminal(["keys", "create"], here, [
      [/Environment \(development, production\) \[development\]: /, "\u0003"],
    ]);
    assert.equal(interrupted.code, 2, interrupted.screen);
    assert.match(interrupted.screen, /Nothing was changed\./);
    const { code, screen } = await runAtTerminal(["keys", "create"], here, [
      [/Environment \(development, production\) \[development\]: /, "production\n"],
      [/Role \(admin, editor, server, client\) \[admin\]: /, "\n"],
      [/Name, .* \[admin\]: /, "\n"],
    ]);
    assert.equal(code, 0, screen);
    assert.match(
      screen,
      /Created the admin key "admin" \([0-9a-f]{16}\) in production in the database /,
    );
    const key = /hal_[0-9a-f]{16}_[\w-]{43}/.exec(screen)?.[0] ?? "";
    const result = await halyard.read("whoami", "--url", server.url, "--key", key);
    const { environment, role } = result as Record<string, unknown>;
    assert.deepEqual({ environment, role }, { environment: "production", role: "admin" });
  }
  const link = (await halyard.succeed("open")).trim();
  assert.ok(link.startsWith(`${server.url}/sign-in?once=`), link);
  assert.deepEqual(await open(link), ["development", "production"]);
  assert.equal(await open(link), undefined);
  // For a remote server, the address of the page to sign in with a key.
  assert.deepEqual(await halyard.read("open", "--url", "https://flags.example.com/"), {
    url: "https://flags.example.com/sign-in",
    signsIn: false,
  });
  const elsewhere = halyard.with({ HALYARD_URL: "https://flags.example.com" });
  assert.partialDeepStrictEqual(await elsewhere.read("open"), { signsIn: false });
  const local = halyard.with({ HALYARD_URL: server.url, PORT: "1" });
  assert.deepEqual(await local.read("open"), { url: `${server.url}/sign-in`, signsIn: false });
  const { DATABASE_URL, HALYARD_DATA = "" } = here as Partial<Record<string, string>>;
  const openThere = ["open", "--data", DATABASE_URL ?? HALYARD_DATA, "--url", server.url];
  assert.ok((await local.succeed(...openThere)).startsWith(`${server.url}/sign-in?once=`));
  await end();
  await halyard.refuse(["open"], 6, /No server responds at http:\S+: start it with halyard serve/);
});
