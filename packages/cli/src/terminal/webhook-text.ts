// Webhooks and their deliveries as text, for people.
import type { Delivery, DeliveryAttempt, NewWebhook, WebhookEvent } from "@halyard/sdk";
import { changesInOneLine } from "./flag-text.ts";
import { type Cell, coloured, inOneLine } from "./output.ts";

/** The names of a list with commas; the server validates them. */
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

/** The beginning of the receiver's response, in one line. */
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

type FlagEvent = Exclude<WebhookEvent, { readonly type: "webhook.test" }>;

/** An event of a flag in one line. */
export const eventText = (event: FlagEvent): string => {
  const { flag, version, previous } = event.data;
  const changes = changesInOneLine(event.type === "flag.created" ? null : previous, flag);
  return [
    event.createdAt,
    event.type.padEnd(13),
    `#${event.sequence}`,
    `${coloured("bold", flag.key)} v${version}`,
    ...(changes === "" ? [] : [changes]),
    `by ${inOneLine(event.actor.name)}`,
  ].join("  ");
};
