// A process of local receivers that answer 204 as fast as they can. Prints its ports; answers a count on GET.
import { createServer } from "node:http";

const count = Number(process.argv[2] ?? "16");
const received: number[] = [];
const ports: number[] = [];

for (let index = 0; index < count; index++) {
  received.push(0);
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      response.end(JSON.stringify(received.reduce((sum, each) => sum + each, 0)));
      return;
    }
    request.resume().on("end", () => {
      received[index] = (received[index] ?? 0) + 1;
      response.writeHead(204).end();
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object" && address) ports.push(address.port);
    if (ports.length === count) console.log(JSON.stringify(ports));
  });
}
