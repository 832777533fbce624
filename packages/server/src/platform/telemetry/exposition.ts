// Metrics in the format of Prometheus, of one process or summed over several.
import type { Registry } from "prom-client";
import type { Family } from "./families.ts";

/** The metrics of one process. Can be sent to another process. */
export type Scrape = readonly Family[];

export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

type Library = typeof import("prom-client");

/** Loaded with the first scrape, so that a server without scrapes does not pay for it. */
let loaded: Promise<{ readonly library: Library; readonly process: Registry }> | undefined;
const load = () => {
  loaded ??= import("prom-client").then(({ default: library }) => {
    // One per process, however many servers it runs: its collection cannot be stopped.
    const process = new library.Registry();
    library.collectDefaultMetrics({ register: process });
    return { library, process };
  });
  return loaded;
};

/** These families and those of the process: memory, processor, event loop, garbage collection. */
export const scrapeWith = async (families: readonly Family[]): Promise<Scrape> => {
  const { process } = await load();
  const ofProcess = (await process.getMetricsAsJSON()) as unknown as readonly Family[];
  return [...families, ...ofProcess];
};

export const expose = async (scrapes: readonly Scrape[]): Promise<Exposition> => {
  const { library } = await load();
  const registry =
    scrapes.length === 1
      ? registryOf(library, scrapes[0] ?? [])
      : library.AggregatorRegistry.aggregate(
          scrapes as unknown as Parameters<typeof library.AggregatorRegistry.aggregate>[0],
        );
  return { contentType: registry.contentType, text: await registry.metrics() };
};

const registryOf = ({ Registry }: Library, scrape: Scrape): Registry => {
  const registry = new Registry();
  for (const family of scrape) {
    const metric = { ...family, get: async () => family };
    registry.registerMetric(metric as unknown as Parameters<typeof registry.registerMetric>[0]);
  }
  return registry;
};
