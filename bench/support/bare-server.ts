// The ceiling: a bare node:http server that answers every request with the bytes of one file. Prints its address.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const body = readFileSync(process.argv[2] ?? "");
const server = createServer((_request, response) => {
  response
    .writeHead(200, {
      "content-type": "application/json; charset=utf-8",
      "content-length": body.length,
    })
    .end(body);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address) console.log(`http://127.0.0.1:${address.port}/`);
});
