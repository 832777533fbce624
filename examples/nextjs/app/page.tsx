import { connection } from "next/server";
import { Checkout } from "./checkout";
import { Flags } from "./flags";
import { getHalyard } from "./halyard";

export default async function Page() {
  // Rendered for each request: flags differ from user to user, and change.
  await connection();
  const user = { targetingKey: "user-42", plan: "pro" };
  const halyard = await getHalyard();
  return (
    <Flags
      context={user}
      // Only the flags that the page uses. Without the list, all of the environment.
      values={halyard.values(user, ["new-checkout"])}
      url={process.env.HALYARD_URL ?? "http://127.0.0.1:4400"}
      clientKey={process.env.HALYARD_CLIENT_KEY ?? ""}
    >
      <Checkout />
    </Flags>
  );
}
