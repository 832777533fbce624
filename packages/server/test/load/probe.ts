// A process of its own that evaluates one flag again and again and tells how long the answers took, until it is told to stop.
import { createConnection } from "./connection.ts";

/** What the process is started with. */
export interface ProbeOrder {
  readonly url: string;
  readonly key: string;
  readonly flag: string;
  /** Milliseconds between two questions. */
  readonly every: number;
}

/** To be told what there is since the last report, which a look is not. */
export type ProbeWish = "look" | "report";

export interface ProbeReport {
  readonly answered: number;
  readonly refused: number;
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
}

const probe = async ({ url, key, flag, every }: ProbeOrder): Promise<void> => {
  const connection = createConnection(url);
  let times: number[] = [];
  let refused = 0;
  const asked = {
    method: "POST",
    path: `/ofrep/v1/evaluate/flags/${flag}`,
    key,
    body: { context: { targetingKey: "probe" } },
  };
  process.on("message", (wish: ProbeWish) => {
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
    process.send?.({
      answered: sorted.length,
      refused,
      p50: at(0.5),
      p99: at(0.99),
      longest: at(1),
    } satisfies ProbeReport);
    if (wish === "look") return;
    times = [];
    refused = 0;
  });
  process.once("disconnect", () => process.exit());
  for (;;) {
    const answered = await connection.ask(asked);
    if (answered !== "cut" && answered.status === 200) times.push(answered.milliseconds);
    else refused += 1;
    await new Promise((resolve) => setTimeout(resolve, every));
  }
};

const [order] = process.argv.slice(2);
if (order !== undefined) await probe(JSON.parse(order) as ProbeOrder);
