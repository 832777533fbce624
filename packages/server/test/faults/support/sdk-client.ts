// A program of its own with clients of the SDK; it answers on its standard output when it is asked on its standard input.
import { createInterface } from "node:readline";
import { type Client, createClient } from "@halyard/sdk";

const [, , key = "", name = "", flag = "", ...urls] = process.argv;

const clients: Client[] = urls.map((url, index) =>
  createClient({ url, key, name: urls.length === 1 ? name : `${name}-${index}`, log: false }),
);
const ready = await Promise.all(clients.map((client) => client.ready({ timeout: 600_000 })));
process.stdout.write(`ready ${ready.every(({ ok }) => ok)}\n`);

/** What every client answers, by name: the value of the flag, from its memory. */
createInterface({ input: process.stdin }).on("line", () => {
  const values = clients.map((client) => client.stringValue(flag, {}, ""));
  process.stdout.write(`${JSON.stringify(values)}\n`);
});
