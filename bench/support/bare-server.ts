// The ceiling of a read: a bare node:http server that answers every request with the bytes of one file. Prints its address.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const [, , file = "", kind = "bytes"] = process.argv;
const bytes = readFileSync(file);
/** Text is a little faster when it is short: Node writes it together with the head. */
const body = kind === "text" ? bytes.toString() : bytes;
const server = createServer((_request, response) => {
  response
    .writeHead(200, {
      "content-type": "application/json; charset=utf-8",
      "content-length": bytes.length,
    })
    .end(body);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address) console.log(`http://127.0.0.1:${address.port}/`);
});
