// Listens where no callback may go, and writes down every connection that comes.
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";

export interface Canary {
  readonly port: number;
  /** The address of each visit. */
  readonly visits: readonly string[];
  close(): Promise<void>;
}

/** On the same port of each address; one that this machine does not have is left out, unless it is the first. */
export const startCanary = async (addresses: readonly string[], port = 0): Promise<Canary> => {
  const visits: string[] = [];
  const servers: Server[] = [];
  let chosen = port;
  for (const [index, address] of addresses.entries()) {
    const server = createServer((socket) => {
      visits.push(address);
      socket.on("error", () => {}).destroy();
    });
    server.listen(chosen, address);
    try {
      await once(server, "listening");
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (index === 0 || !["EADDRNOTAVAIL", "EAFNOSUPPORT"].includes(String(code))) throw error;
      continue;
    }
    chosen = (server.address() as AddressInfo).port;
    servers.push(server);
  }
  return {
    port: chosen,
    visits,
    async close() {
      for (const server of servers) {
        server.close();
        await once(server, "close");
      }
    },
  };
};
