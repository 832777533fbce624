// halyard serve says where the dashboard is: with a link that signs in once, or how to sign in.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, test } from "node:test";
import { type RunningServer, serveHalyard } from "../../server/test/support/halyard-process.ts";
import { newFolder } from "../../server/test/support/server.ts";

const folders: string[] = [];
const started: RunningServer[] = [];
after(() => {
  for (const server of started) server.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** What a start prints about the dashboard, and its whole output once it has ended. */
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
  return { server, address, end };
};

/** The environments that somebody is signed in to who opens it; undefined when it does not sign in. */
const open = async (address: string): Promise<string[] | undefined> => {
  const headers = { connection: "close" };
  const answer = await fetch(address, { redirect: "manual", headers });
  const cookie = answer.headers.getSetCookie()[0]?.split(";")[0];
  if (cookie === undefined) return undefined;
  const session = await fetch(new URL("/session", address), { headers: { ...headers, cookie } });
  const { environments } = (await session.json()) as { environments: { name: string }[] };
  return environments.map(({ name }) => name);
};

test("the printed link signs in once, to the environments that this start has made", async () => {
  const { server, address, end } = await start();
  assert.ok(address.startsWith(`${server.url}/sign-in?once=`), address);
  assert.deepEqual(await open(address), ["development", "production"]);
  assert.equal(await open(address), undefined);
  const output = await end();
  assert.match(output, /signs you in, once/);
});

test("several workers print one link, and one of them takes it", async () => {
  const { address, end } = await start({ HALYARD_WORKERS: "2" });
  const opened = await Promise.all(Array.from({ length: 6 }, () => open(address)));
  assert.equal(opened.filter((environments) => environments !== undefined).length, 1);
  assert.equal((await end()).match(/sign-in\?once=/g)?.length, 1);
});

test("where others may read the output there is no link", async () => {
  const { server, address, end } = await start({ HOST: "0.0.0.0" });
  assert.equal(address, server.url);
  const output = await end();
  assert.match(output, /Sign in with an API key/);
  assert.doesNotMatch(output, /once=/);
});
