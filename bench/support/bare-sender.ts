// The ceiling: a bare undici loop that signs and posts, with the same number of requests at once. Prints its rate.
import { createHmac, randomBytes } from "node:crypto";
import { Agent, request } from "undici";

const [ports, total, perPort] = process.argv
  .slice(2)
  .map((text) => JSON.parse(text) as unknown) as [number[], number, number];
const agent = new Agent({ pipelining: 1, connections: perPort });
const secret = `whsec_${randomBytes(32).toString("base64")}`;
const key = Buffer.from(secret.slice(6), "base64");
const body = Buffer.from(
  JSON.stringify({
    id: `evt_${randomBytes(16).toString("hex")}`,
    type: "flag.updated",
    createdAt: new Date().toISOString(),
    environment: "development",
    sequence: 1,
    data: {
      flag: { key: "flag-100", type: "rollout", enabled: false, percentage: 25, description: null },
      version: 2,
      previous: { percentage: 0 },
    },
    actor: { keyId: randomBytes(8).toString("hex"), name: "bootstrap" },
  }),
);

let left = total;
const loop = async (port: number): Promise<void> => {
  while (left > 0) {
    left -= 1;
    const id = `evt_${randomBytes(16).toString("hex")}`;
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const plain = createHmac("sha256", secret).update(body).digest("hex");
    const standard = createHmac("sha256", key)
      .update(`${id}.${timestamp}.`)
      .update(body)
      .digest("base64");
    const answer = await request(`http://127.0.0.1:${port}/hook`, {
      dispatcher: agent,
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-service-signature": `sha256=${plain}`,
        "x-service-event": "flag.updated",
        "x-service-delivery": id,
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": `v1,${standard}`,
      },
      body,
    });
    await answer.body.dump();
  }
};

const started = performance.now();
await Promise.all(ports.flatMap((port) => Array.from({ length: perPort }, () => loop(port))));
const { user, system } = process.cpuUsage();
console.error(`bare: ${Math.round((user + system) / total)} µs of processor time each`);
console.log(JSON.stringify(total / ((performance.now() - started) / 1_000)));
await agent.close();
