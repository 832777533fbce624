// The ceiling of an evaluation over HTTP: a bare node:http server that reads and parses each body and answers with the bytes of one file.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const answer = readFileSync(process.argv[2] ?? "", "utf8");
let parsed = 0;
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    if (typeof body === "object") parsed += 1;
    response
      .writeHead(200, {
        "content-type": "application/json; charset=utf-8",
        "content-length": answer.length,
      })
      .end(answer);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address) console.log(`http://127.0.0.1:${address.port}/`);
});
process.once("SIGTERM", () => process.exit(parsed > 0 ? 0 : 1));
