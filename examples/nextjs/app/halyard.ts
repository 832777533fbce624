import "server-only";
import { type Client, createClient } from "@halyard/sdk";

const connect = async (): Promise<Client> => {
  const client = createClient({
    url: process.env.HALYARD_URL ?? "http://127.0.0.1:4400",
    key: process.env.HALYARD_API_KEY ?? "",
  });
  // If there are no flags by then, pages are rendered with the fallbacks; the client keeps trying.
  await client.ready({ timeout: 5_000 });
  return client;
};

// One client for the whole process, also when the development server loads this file again.
const kept = globalThis as { halyard?: Promise<Client> };

export const getHalyard = (): Promise<Client> => {
  kept.halyard ??= connect();
  return kept.halyard;
};
