// The floor of a start: a node:http server that does nothing else, in JavaScript. Prints its address.
import { createServer } from "node:http";

const server = createServer((_request, response) => response.end());
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address) console.log(`http://127.0.0.1:${address.port}/`);
});
