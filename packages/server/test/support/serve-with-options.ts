// A process of its own that serves with options that `halyard serve` has no setting for.
import { once } from "node:events";
import { parseConfig, startServer } from "@halyard/server";

const server = await startServer(parseConfig(process.env), JSON.parse(process.argv[2] ?? "{}"));
console.log(`Halyard is up.\nAPI ${server.url}/api/v1`);
await once(process, "SIGTERM");
await server.close();
