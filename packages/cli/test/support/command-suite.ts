// A server with one environment for the tests of a file, and a runner with its admin key.
import { after, before } from "node:test";
import {
  type ScriptedReceiver,
  startReceiver,
} from "../../../server/test/support/scripted-receiver.ts";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../../server/test/support/server.ts";
import { type CommandRunner, createRunner, settingsFor } from "./command-runner.ts";

interface CommandSuite {
  readonly server: TestServer;
  readonly environment: TestEnvironment;
  /** Receives the requests of webhooks that are registered with its URL. */
  readonly receiver: ScriptedReceiver;
  readonly settings: Record<string, string>;
  readonly halyard: CommandRunner;
}

/** Call this once at the top of a file. The result is filled in before the first test. */
export const commandSuite = (): CommandSuite => {
  const suite = {} as CommandSuite;
  before(async () => {
    const server = await startTestServer();
    const environment = await server.environment();
    const settings = settingsFor(server, environment.keys.admin);
    Object.assign(suite, {
      server,
      environment,
      receiver: await startReceiver(),
      settings,
      halyard: createRunner(settings),
    } satisfies CommandSuite);
  });
  after(async () => {
    await suite.server.close();
    await suite.receiver.close();
  });
  return suite;
};
