import { suite, test } from "node:test";
import { missing } from "../../packages/sdk/test/support/guide.ts";
import { startTestServer } from "../../packages/server/test/support/server.ts";
import { begins, keyOf, type Plan } from "./documented-commands.ts";
import { commandsOf, openSession } from "./shell-session.ts";

export const testCommands = (those: Readonly<Record<string, Plan>>): void => {
  suite("the commands run, and print what stands there", {
    skip: missing("curl", "--version") || missing("bash", "--version"),
  }, () => {
    for (const [page, plan] of Object.entries(those)) {
      test(page, async (context) => {
        const server = await startTestServer();
        context.after(() => server.close());
        const reader = await plan(server, context);
        const session = openSession(context, {
          url: server.url,
          data: server.folder,
          variables: {
            HALYARD_API_KEY: keyOf(server, "development"),
            PRODUCTION_KEY: keyOf(server, "production"),
            HALYARD_URL: server.url,
          },
          ...reader,
        });
        for (const [block, next] of commandsOf(page)) {
          if (begins(page, block.text) === undefined) await session.follow(block, next);
        }
        await reader.afterwards?.();
      });
    }
  });
};
