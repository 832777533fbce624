import { createServer } from "node:http";
import { HalyardProvider } from "@halyard/sdk/openfeature/server";
import { OpenFeature } from "@openfeature/server-sdk";

const provider = new HalyardProvider({
  url: process.env.HALYARD_URL ?? "http://127.0.0.1:4400",
  key: process.env.HALYARD_API_KEY ?? "",
});
try {
  await OpenFeature.setProviderAndWait(provider);
} catch (error) {
  // The defaults apply until Halyard can be reached; the provider keeps trying.
  console.warn(`starting without flags: ${error}`);
}
const flags = OpenFeature.getClient();

const server = createServer(async (request, response) => {
  const { searchParams } = new URL(request.url ?? "/", "http://localhost");
  const user = { targetingKey: searchParams.get("user") ?? "anonymous" };
  const isNew = await flags.getBooleanValue("new-checkout", false, user);
  response.end(isNew ? "the new checkout\n" : "the old checkout\n");
});
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object") console.log(`http://127.0.0.1:${address?.port}/?user=user-42`);
});

process.once("SIGTERM", async () => {
  server.close();
  await OpenFeature.close();
});
