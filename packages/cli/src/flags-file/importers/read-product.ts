// Reads a file of another product: one environment, with the flag types that fit all environments.
import { importers, type Product } from "./importers.ts";
import type { Reading, Source } from "./source.ts";
import { withSameTypes } from "./translate/same-type.ts";

export const readProduct = (product: Product, source: Source): Reading => {
  const read = importers[product];
  const reading = read(source);
  const others = (reading.environments ?? []).map(
    (environment) => read({ ...source, environment }).found,
  );
  return { ...reading, found: withSameTypes(reading.found, others) };
};
