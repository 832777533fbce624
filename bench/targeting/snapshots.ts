// What 1,000 flags with rules cost the server beside 1,000 plain ones: to load them all, and to follow a change of one.

import type { Flag } from "../../packages/core/src/flags/registry.ts";
import type {
  ChangeableSnapshot,
  Snapshot,
} from "../../packages/server/src/evaluation/snapshot.ts";
import { figure, median, milliseconds, nth, table } from "../support/report.ts";
import { processorTime } from "./child.ts";
import { plainFlag, ruledFlag } from "./flags.ts";
import { frameBytes, newSnapshot, renderAll } from "./snapshot-parts.ts";

const count = 1_000;

/** Milliseconds of processor time, of so many runs at once: the clock of it is coarse. */
const timeOf = (runs: number, work: (run: number) => void): number => {
  const started = processorTime();
  for (let run = 0; run < runs; run += 1) work(run);
  return (processorTime() - started) / runs;
};

export const compareSnapshots = (rounds: number): void => {
  const kinds = { rules: (index: number) => ruledFlag(index, 10), plain: plainFlag };
  const texts = Object.entries(kinds).map(([name, make]) => ({
    name,
    text: JSON.stringify(Array.from({ length: count }, (_, index) => make(index))),
    load: [] as number[],
    render: [] as number[],
    change: [] as number[],
    bytes: 0,
  }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const each of round % 2 === 0 ? texts : texts.toReversed()) {
      const snapshots = [newSnapshot([], [])];
      const load = timeOf(4, (run) => {
        snapshots[run] = newSnapshot(JSON.parse(each.text) as Flag[], []);
      });
      const render = timeOf(4, (run) => renderAll(snapshots[run] as Snapshot));
      const snapshot = snapshots[0] as ChangeableSnapshot;
      const [first] = snapshot.all();
      const change = timeOf(50, (run) => {
        if (!first) return;
        snapshot.apply({
          revision: snapshot.revision + 1,
          at: new Date(),
          kind: "flag",
          key: first.flag.key,
          version: run + 2,
          level: first.level,
          value: { ...first.flag, description: `change ${run}` },
        });
        renderAll(snapshot);
      });
      each.bytes = frameBytes(snapshot);
      if (round === 0) continue;
      each.load.push(load);
      each.render.push(render);
      each.change.push(change);
    }
  }
  const [rules, plain] = texts;
  if (!rules || !plain) return;
  const row = table(
    "1,000 flags, processor time",
    "10 rules each",
    "plain",
    "more",
    "spread of the rounds",
  );
  for (const [what, name] of [
    ["parse and prepare all", "load"],
    ["first snapshot as JSON", "render"],
    ["a change of one flag: prepare, and the snapshot as JSON", "change"],
  ] as const) {
    const more = rules[name].map((each, round) => each - (plain[name][round] ?? 0));
    figure(`1,000 flags with 10 rules, ${name}, ms more`, median(more));
    row(
      what,
      milliseconds(median(rules[name])),
      milliseconds(median(plain[name])),
      milliseconds(median(more)),
      `${milliseconds(nth(more, 0))} to ${milliseconds(nth(more, 1))}`,
    );
  }
  const kilobytes = ({ bytes }: { bytes: number }) => `${Math.round(bytes / 1_000)} kB`;
  row("size of the snapshot", kilobytes(rules), kilobytes(plain), "", "");
};
