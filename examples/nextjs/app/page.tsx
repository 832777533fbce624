import { connection } from "next/server";
import { Checkout } from "./checkout";
import { Flags } from "./flags";
import { getHalyard } from "./halyard";

export default async function Page() {
  // Rendered for each request: flags differ from user to user, and change.
  await connection();
  const user = { targetingKey: "user-42" };
  const halyard = await getHalyard();
  return (
    <Flags
      // Only the flags that the page uses go to the browser.
      values={{ "new-checkout": halyard.isEnabled("new-checkout", user) }}
      url={process.env.HALYARD_URL ?? "http://127.0.0.1:4400"}
      clientKey={process.env.HALYARD_CLIENT_KEY ?? ""}
      targetingKey={user.targetingKey}
    >
      <Checkout />
    </Flags>
  );
}
