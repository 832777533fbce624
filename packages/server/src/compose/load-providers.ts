// Constructs the identity providers.
import type { Config } from "../config/config.ts";
import type { Clock } from "../ports.ts";
import type { Providers } from "../providers/provider.ts";

/** Their library loads only if there is one, which keeps the start fast and small. */
export const loadProviders = async (
  { providers, publicUrl = "" }: Config,
  clock: Clock,
): Promise<Providers> => {
  if (providers.length === 0) return new Map();
  const { createProviders } = await import("../providers/openid.ts");
  return createProviders(providers, publicUrl, clock);
};
