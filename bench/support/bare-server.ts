// The ceiling of a read: a bare node:http server that answers every request with the head and the body of one answer. Prints its address.
import { createServer } from "node:http";
import { bodyOf, headOf, listenHere } from "./bare-answer.ts";

const head = headOf();
const body = bodyOf();
const server = createServer((_request, response) => {
  response.writeHead(200, head).end(body);
});
listenHere(server);
