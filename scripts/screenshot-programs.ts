// The programs of the server of the pictures, one of which lacks the newest change.
import { type Program, startProgram } from "../packages/dashboard/test/support/programs.ts";
import type { TestServer } from "../packages/server/test/support/server.ts";

const names = [
  ...["checkout-6c9d-x2kfp", "checkout-6c9d-m8tqz", "checkout-6c9d-p4wvj"],
  ...["billing-54f8-kk2nd", "search-7b61-9qlsr", "mailer-5d77-tz6bc", "recommendations-1"],
];
const late = "billing-54f8-kk2nd";

/** With an admin key of production. */
export const startShownPrograms = async (
  server: TestServer,
  adminKey: string,
): Promise<readonly Program[]> => {
  const admin = server.api(adminKey);
  const { body } = await admin("POST", "/keys", { name: "shop", role: "server" });
  const programs: Program[] = [];
  for (const name of names) {
    const program = await startProgram(server.url, (body as { key: string }).key, name);
    programs.push(program);
    if (name === late) program.holdUp();
  }
  await admin("PATCH", "/flags/recommendations", { percentage: 15 });
  return programs;
};
