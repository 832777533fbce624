import "server-only";
import { type Client, createClient } from "@halyard/sdk";

// One client for the whole process, also when the development server loads this file again.
const kept = globalThis as { halyard?: Client };

export const getHalyard = async (): Promise<Client> => {
  kept.halyard ??= createClient({
    url: process.env.HALYARD_URL ?? "http://127.0.0.1:4400",
    key: process.env.HALYARD_API_KEY ?? "",
  });
  // Without flags after two seconds, the page is rendered with the fallbacks.
  await kept.halyard.ready({ timeout: 2_000 });
  return kept.halyard;
};
