// A process of its own that takes callbacks and answers each after so many milliseconds. It tells its port.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface PatientReport {
  readonly port: number;
}

const [milliseconds] = process.argv.slice(2);
if (milliseconds !== undefined) {
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      setTimeout(() => response.writeHead(204).end(), Number(milliseconds));
    });
  });
  process.once("disconnect", () => process.exit());
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    process.send?.({ port } satisfies PatientReport);
  });
}
