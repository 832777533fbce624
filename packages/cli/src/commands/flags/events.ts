// halyard events tail: prints events of an environment as they happen.
import { Command } from "commander";
import {
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { followEvents } from "../../server-connection/follow-events.ts";
import { withExamples } from "../../terminal/examples.ts";
import { moment, wholeNumber } from "../../terminal/option-values.ts";
import { jsonText, print, printAside } from "../../terminal/output.ts";
import { untilStopped } from "../../terminal/output-closed.ts";
import { eventText } from "../../terminal/webhook-text.ts";

interface TailOptions extends ConnectionOptions {
  readonly since?: Date;
  readonly count?: number;
  readonly json?: boolean;
}

export const eventCommands = (): Command => {
  const group = new Command("events").description("follow the changes of an environment");
  const tail = serverCommand(group.command("tail"), "a server")
    .description("print every event as it happens; stop with Ctrl-C")
    .option("--since <time>", "start with the events since this time, or this long ago", moment)
    .option("--count <number>", "exit after this many events", wholeNumber(1))
    .addHelpText(
      "after",
      `
After an interruption, it continues without repeating events.
With --json, each event is one line in the format that webhooks receive.`,
    )
    .action(tailEvents);
  withExamples(
    tail,
    "halyard events tail",
    "halyard events tail --since 2h",
    "halyard events tail --json --count 1",
  );
  return group;
};

const tailEvents = async (options: TailOptions): Promise<void> => {
  const connection = connect(options);
  const stop = untilStopped();
  let left = options.count ?? Number.POSITIVE_INFINITY;
  const reader = {
    onStart: (environment: string, sequence: number) =>
      printAside(`Following ${environment} after event ${sequence}.`),
    onEvent(event: Parameters<typeof eventText>[0]) {
      print(options.json ? jsonText(event) : eventText(event));
      left -= 1;
      if (left === 0) stop.abort();
    },
  };
  await followEvents(connection, options.since, reader, stop);
};
