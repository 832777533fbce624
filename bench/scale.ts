// Does it stay as fast with 10,000 flags as with 10, and what does the first list after a change cost?
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pairs } from "./support/in-turns.ts";
import { type Load, openLoad, type Request } from "./support/load.ts";
import { benchKey as key, startHalyard, stopAll } from "./support/processes.ts";
import { machine, say } from "./support/report.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const connections = 16;
const reads = 3_000;
const writes = 1_000;

const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
const request = (method: string, path: string, body?: unknown): Request => ({
  method,
  path: `/api/v1${path}`,
  key,
  body,
});
const nameOf = (index: number) => `flag-${String(index).padStart(5, "0")}`;

interface Subject {
  readonly flags: number;
  readonly load: Load;
}

const startWith = async (flags: number): Promise<Subject> => {
  const { url } = await startHalyard({ HALYARD_DATA: join(folder, String(flags)) });
  const load = await openLoad(url, connections);
  await load.run(flags, (index) =>
    request("POST", "/flags", {
      key: nameOf(index),
      type: "rollout",
      description: `What flag ${index} is for`,
    }),
  );
  return { flags, load };
};

let changes = 0;
/** A change of another flag each time, and never one that changes nothing. */
const patch = (flags: number) => (): Request => {
  changes += 1;
  const flag = nameOf((changes * 7_919) % flags);
  return request("PATCH", `/flags/${flag}`, { description: `changed ${changes}` });
};
const read = (flags: number) => (index: number) =>
  request("GET", `/flags/${nameOf((index * 7_919) % flags)}`);

try {
  const small = await startWith(10);
  const middle = await startWith(1_000);
  const large = await startWith(10_000);
  say(`${machine}, ${connections} connections, ${rounds} rounds`);
  const compare = pairs(rounds, "10,000 flags", "10 flags");
  await compare(
    "GET one flag",
    "read with 10,000 flags beside 10",
    () => large.load.run(reads, read(large.flags)),
    () => small.load.run(reads, read(small.flags)),
  );
  await compare(
    "PATCH one flag",
    "write with 10,000 flags beside 10",
    () => large.load.run(writes, patch(large.flags)),
    () => small.load.run(writes, patch(small.flags)),
  );
  const list = request("GET", "/flags");
  await pairs(rounds, "first after a change", "kept", "ms")(
    "GET /flags of 1,000 flags",
    "list after a change beside the kept one",
    async () => {
      await middle.load.one(patch(middle.flags)());
      return middle.load.one(list);
    },
    () => middle.load.one(list),
  );
  for (const { load } of [small, middle, large]) load.close();
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
