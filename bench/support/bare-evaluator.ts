// The ceiling of an evaluation over HTTP: a bare node:http server that reads and parses each body and answers with one answer.
import { createServer } from "node:http";
import { bodyOf, headOf, listenHere } from "./bare-answer.ts";

const head = headOf();
const body = bodyOf();
let parsed = 0;
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const asked: unknown = JSON.parse(Buffer.concat(chunks).toString());
    if (typeof asked === "object") parsed += 1;
    response.writeHead(200, head).end(body);
  });
});
listenHere(server);
process.once("SIGTERM", () => process.exit(parsed > 0 ? 0 : 1));
