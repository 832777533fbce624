// Formats webhooks and their deliveries as text.
import type { Delivery, DeliveryAttempt, ListChange, NewWebhook } from "@halyard/sdk/management";
import type { WebhookEvent } from "@halyard/sdk/webhooks";
import { actorInLine, changesInOneLine, previousFlag } from "./flag-text.ts";
import { type Cell, colored, inOneLine } from "./output.ts";

/** The names of a comma-separated list. The server validates them. */
export const eventNames = (text: string): NewWebhook["events"] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "") as unknown as NewWebhook["events"];

const longestResponse = 200;

export const succeeded = ({ status }: DeliveryAttempt): boolean =>
  status !== null && status >= 200 && status < 300;

/** Such as `500 in 12 ms` or `connection refused`. */
export const attemptText = ({ status, error, milliseconds }: DeliveryAttempt): string =>
  status === null ? inOneLine(error ?? "no response") : `${status} in ${milliseconds} ms`;

/** The start of the receiver's response, in one line. */
export const responseText = ({ response }: DeliveryAttempt): string | undefined => {
  const line = inOneLine(response ?? "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return line === "" ? undefined : line.slice(0, longestResponse);
};

export const stateOf = ({ state }: Delivery): Cell => ({
  style: ({ delivered: "green", failed: "red", pending: "yellow" } as const)[state],
  text: state,
});

type ChangeEvent = Exclude<WebhookEvent, { readonly type: "webhook.test" }>;

/** The changes of member lists, such as `include +2 -1`. */
const membersText = (name: string, change: ListChange | undefined): string =>
  change === undefined
    ? ""
    : `${name}${change.added.length > 0 ? ` +${change.added.length}` : ""}${change.removed.length > 0 ? ` -${change.removed.length}` : ""}`;

/** The key of the object, and the changes. */
const subjectOf = ({ type, data }: ChangeEvent): readonly [key: string, changes: string] => {
  if ("flag" in data) {
    return [
      data.flag.key,
      changesInOneLine(
        type === "flag.created" ? null : previousFlag(data.flag, data.previous),
        data.flag,
      ),
    ];
  }
  if ("changeRequest" in data) {
    const { comment, changeRequest } = data;
    return [changeRequest.id, inOneLine(comment ?? changeRequest.title)];
  }
  const changes = [
    ...Object.keys(data.previous).filter((name) => name !== "counts"),
    membersText("include", data.include),
    membersText("exclude", data.exclude),
    data.membersOmitted === true ? "many members" : "",
  ];
  return [data.segment.key, changes.filter((each) => each !== "").join(", ")];
};

/** An event of a flag or a segment in one line. */
export const eventText = (event: ChangeEvent): string => {
  const [key, changes] = subjectOf(event);
  return [
    event.createdAt,
    event.type.padEnd(13),
    `#${event.sequence}`,
    `${colored("bold", key)}${"version" in event.data ? ` v${event.data.version}` : ""}`,
    ...(changes === "" ? [] : [changes]),
    `by ${actorInLine(event.actor)}`,
    ...(event.reason === undefined ? [] : [`because: ${inOneLine(event.reason)}`]),
  ].join("  ");
};
