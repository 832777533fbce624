// The ceiling of a change over HTTP: a bare node:http server that commits the rows of a change for each request. Prints its address.
import { createServer } from "node:http";
import { listenHere } from "./bare-answer.ts";
import { bareCommits } from "./bare-commits.ts";

const [, , store = "", flags = "", connections = ""] = process.argv;
const commits = await bareCommits(store, Number(flags), Number(connections));

/** As long as the flag that Halyard answers with. */
const flag = {
  key: "flag-00001",
  type: "rollout",
  enabled: true,
  percentage: 50,
  description: "changed 123456",
};

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { description } = JSON.parse(Buffer.concat(chunks).toString()) as { description: string };
    const answer = JSON.stringify({ ...flag, description });
    const head = { "content-type": "application/json", "content-length": answer.length };
    void commits.one().then(() => response.writeHead(200, head).end(answer));
  });
});
listenHere(server);
