// Constructs the identity providers.

import type { Providers } from "../features/people/sign-in/providers/provider.ts";
import type { Clock } from "../platform/database/store.ts";
import type { Config } from "../process/settings/config.ts";

/** Their library loads only if there is one, which keeps the start fast and small. */
export const loadProviders = async (
  { providers, publicUrl = "" }: Config,
  clock: Clock,
): Promise<Providers> => {
  if (providers.length === 0) return new Map();
  const { createProviders } = await import("../features/people/sign-in/providers/openid.ts");
  return createProviders(providers, publicUrl, clock);
};
