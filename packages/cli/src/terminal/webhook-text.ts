// Webhooks and their deliveries as text, for people.
import type { Delivery, DeliveryAttempt, NewWebhook } from "@halyard/sdk";
import { type Cell, inOneLine } from "./output.ts";

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
