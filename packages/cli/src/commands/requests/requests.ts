// halyard requests: shows change requests in protected environments, and approves or refuses them.
import type {
  ChangeRequest,
  ChangeRequestPage,
  ChangeRequestState,
  ChangeRequestSummary,
  Management,
  Result,
} from "@halyard/sdk/management";
import { Command, Option } from "commander";
import {
  answered,
  type Connection,
  type ConnectionOptions,
  changeCommand,
  connect,
  serverCommand,
  waitingCommand,
} from "../../server-connection/connection.ts";
import { beginChange, type Place } from "../../server-connection/place.ts";
import { withExamples } from "../../terminal/examples.ts";
import { actorInLine } from "../../terminal/flag-text.ts";
import { wholeNumber } from "../../terminal/option-values.ts";
import { print, printJson, printTable } from "../../terminal/output.ts";
import { missingApprovals, printDifference, printRequest, stateCell } from "./request-text.ts";

interface Options extends ConnectionOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
}

const states = ["open", "approved", "applied", "refused", "withdrawn"] as const;

export const requestCommands = (): Command => {
  const group = new Command("requests").description("show, approve and refuse change requests");
  withExamples(
    serverCommand(group.command("list"), "a server")
      .description("list change requests, newest first")
      .addOption(new Option("--state <state>", "only requests in this state").choices(states))
      .option("--limit <count>", "the maximum number of requests", wholeNumber(1), 50)
      .action(listRequests),
    "halyard requests list --state open",
  );
  withExamples(
    serverCommand(group.command("show"), "a server")
      .description("show the changes and comments of a change request")
      .argument("<request>", "its id")
      .action(showRequest),
    "halyard requests show cr_2b1c4a90d7e85f33",
  );
  addSteps(group);
  return group;
};

const addSteps = (group: Command): void => {
  const command = (name: string, description: string, example: string): Command => {
    const made = changeCommand(group.command(name))
      .description(description)
      .argument("<request>", "its id");
    return withExamples(made, `halyard requests ${example}`);
  };
  const waiting: typeof command = (...described) => waitingCommand(command(...described));
  const id = "cr_2b1c4a90d7e85f33";
  waiting(
    "approve",
    "approve another author's change request, which applies it immediately or at its scheduled time; needs a personal key",
    `approve ${id}`,
  ).action((request: string, options: Options) =>
    actOnSeen(request, options, "Approve", ({ approve }, digest) => approve(request, digest)),
  );
  command("refuse", "refuse another author's change request; needs a personal key", `refuse ${id}`)
    .option("--comment <text>", "why")
    .action((request: string, options: Options & { readonly comment?: string }) =>
      act(request, options, "Refuse", ({ refuse }) => refuse(request, options.comment)),
    );
  command("withdraw", "withdraw your own change request", `withdraw ${id}`).action(
    (request: string, options: Options) =>
      act(request, options, "Withdraw", ({ withdraw }) => withdraw(request)),
  );
  command("comment", "comment on a change request", `comment ${id} "Why now?"`)
    .argument("<text>", "the comment")
    .action((request: string, text: string, options: Options) =>
      act(request, { ...options, yes: true }, "Comment on", ({ comment }) =>
        comment(request, text),
      ),
    );
  command(
    "rebase",
    "update your own change request to the current state; clears existing approvals",
    `rebase ${id}`,
  ).action(rebase);
  waiting(
    "bypass",
    "apply a change request without an approval: an owner, who says why; it is marked as such",
    `bypass ${id} --reason "The provider has an incident"`,
  )
    .requiredOption("--reason <text>", "the reason; included in history and events")
    .action((request: string, options: Options & { readonly reason: string }) =>
      actOnSeen(request, options, "Apply without approval", ({ bypass }, digest) =>
        bypass(request, options.reason, digest),
      ),
    );
};

const listRequests = async (
  options: Options & { readonly state?: ChangeRequestState; readonly limit: number },
): Promise<void> => {
  const connection = connect(options);
  const { changeRequests } = connection.management;
  const { state, limit } = options;
  const largestPage = 100;
  const found: ChangeRequestSummary[] = [];
  const page = async (cursor: string | null): Promise<ChangeRequestPage> =>
    answered(
      connection,
      await changeRequests.list({
        limit: Math.min(limit - found.length, largestPage),
        ...(state !== undefined && { state }),
        ...(cursor !== null && { cursor }),
      }),
    );
  let next: string | null = null;
  do {
    const { requests, next: following } = await page(next);
    found.push(...requests);
    next = following;
  } while (next !== null && found.length < limit);
  if (options.json) return printJson(found);
  if (found.length === 0) return print("No change requests.");
  printTable(
    ["id", "state", "change", "by", "created"],
    found.map((request) => [
      request.id,
      stateCell(request),
      request.title,
      actorInLine(request.author),
      request.createdAt,
    ]),
  );
};

const showRequest = async (id: string, options: Options): Promise<void> => {
  const connection = connect(options);
  const request = answered(connection, await connection.management.changeRequests.get(id));
  if (options.json) return printJson(request);
  printRequest(request);
};

type Calls = Management["changeRequests"];

const report = (request: ChangeRequest, { hint }: Connection, place: Place): void => {
  const { id, title, state, applyAt } = request;
  const what = state === "approved" && applyAt !== null ? `approved for ${applyAt}` : state;
  print(`${id} is ${what} ${place.text}: ${title}.`);
  const missing = missingApprovals(request);
  if (missing !== undefined) print(`It has ${missing}.`);
  if (state === "open" && request.moved.length > 0) {
    print(
      `${request.moved.join(", ")} changed since the request was made. Its author must run ${hint(`requests rebase ${id}`)}`,
    );
  }
};

const act = async (
  id: string,
  options: Options,
  verb: string,
  call: (calls: Calls) => Promise<Result<ChangeRequest>>,
): Promise<void> => {
  const connection = connect(options);
  const place = await beginChange(connection, `${verb} ${id}`, options.yes);
  const request = answered(connection, await call(connection.management.changeRequests));
  if (options.json) return printJson({ ...request, ...place.json });
  report(request, connection, place);
};

/** Shows the request before asking for confirmation. Does nothing if the request was edited meanwhile. */
const actOnSeen = async (
  id: string,
  options: Options,
  verb: string,
  call: (calls: Calls, digest: string) => Promise<Result<ChangeRequest>>,
): Promise<void> => {
  const connection = connect(options);
  const { changeRequests } = connection.management;
  const seen = answered(connection, await changeRequests.get(id));
  const show = () => printRequest(seen);
  const place = await beginChange(connection, `${verb} ${id}`, options.yes, show);
  const request = answered(connection, await call(changeRequests, seen.digest));
  if (options.json) return printJson({ ...request, ...place.json });
  report(request, connection, place);
};

const rebase = async (id: string, options: Options): Promise<void> => {
  const connection = connect(options);
  const place = await beginChange(connection, `Rebase ${id}`, options.yes);
  const rebased = answered(connection, await connection.management.changeRequests.rebase(id));
  if (options.json) return printJson({ ...rebased, ...place.json });
  printDifference(rebased.difference);
  report(rebased.request, connection, place);
};
