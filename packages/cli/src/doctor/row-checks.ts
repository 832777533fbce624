// Checks of the stored rows: failing webhooks, and missing or unused keys.
import type { CallbackFinding, Inspected, InspectedWebhook } from "@halyard/server/operator/doctor";
import { type Check, counted, durationText, fail, orOk, warn } from "./check.ts";

const longWait = 10 * 60_000;
const unusedFor = 90 * 86_400_000;
const expiresSoon = 7 * 86_400_000;

type Rows = Pick<Inspected, "environments" | "keys" | "webhooks">;

/** `findings` contains, by webhook id, whether its URL is allowed. Missing ones were not checked. */
export const callbackChecks = (
  { webhooks }: Rows,
  findings: ReadonlyMap<string, CallbackFinding>,
  now: number,
): Check[] => {
  const active = webhooks.filter((webhook) => webhook.active).length;
  return orOk(
    webhooks.flatMap((webhook) => problemsOf(webhook, findings.get(webhook.id), now)),
    "callbacks",
    webhooks.length === 0
      ? "there are no webhooks"
      : `${counted(active, "active webhook")}, none of them with problems`,
  );
};

const problemsOf = (
  webhook: InspectedWebhook,
  finding: CallbackFinding | undefined,
  now: number,
): Check[] => {
  const { id, url, environment, active, deactivatedFor, failingSince, pending } = webhook;
  const about = "callbacks";
  const who = `${id} of ${environment} (${url})`;
  const waiting =
    pending === 0 ? "" : `, with ${counted(pending, "delivery", "deliveries")} waiting`;
  if (!active) {
    const why = deactivatedFor === null ? "" : ` (Halyard deactivated it: ${deactivatedFor})`;
    return [
      warn(
        about,
        `${who} is inactive${why}${waiting}`,
        `fix the receiver and run halyard webhooks resume ${id}, or halyard webhooks delete ${id}, with a key of ${environment}`,
      ),
    ];
  }
  const problems: Check[] = [];
  if (finding?.kind === "refused") {
    problems.push(
      fail(
        about,
        `${who} must not be called: ${finding.reason.replace(/\.$/, "")}`,
        "register an allowed address, or allow this one with HALYARD_CALLBACK_ALLOW or HALYARD_CALLBACK_PORTS",
      ),
    );
  }
  if (finding?.kind === "unresolved") {
    problems.push(
      warn(
        about,
        `the host name of ${who} does not resolve here`,
        `check the DNS entry of ${finding.name}, or register the webhook with another host name`,
      ),
    );
  }
  if (failingSince !== null) {
    problems.push(
      warn(
        about,
        `${who} has been failing for ${durationText(now - failingSince.getTime())}${waiting}`,
        `see the responses of the receiver with halyard webhooks deliveries ${id}, with a key of ${environment}`,
      ),
    );
  } else if (webhook.oldestPendingAt && now - webhook.oldestPendingAt.getTime() > longWait) {
    problems.push(
      warn(
        about,
        `the oldest of ${counted(pending, "delivery", "deliveries")} to ${who} has waited for ${durationText(now - webhook.oldestPendingAt.getTime())}`,
        "check that a server is running, and look for delivery errors in its log",
      ),
    );
  }
  return problems;
};

export const keyChecks = ({ environments, keys }: Rows, now: number): Check[] => {
  const about = "keys";
  const isOver = ({ expiresAt }: { readonly expiresAt: Date | null }): boolean =>
    expiresAt !== null && expiresAt.getTime() <= now;
  const valid = keys.filter((key) => !isOver(key));
  const withoutAdmin = environments
    .filter((name) => !valid.some((key) => key.environment === name && key.role === "admin"))
    .map((name) =>
      warn(
        about,
        `the environment ${name} has no admin key`,
        `halyard keys create --environment ${name} --role admin --name admin`,
      ),
    );
  const ending = keys
    .filter(({ expiresAt }) => expiresAt !== null && expiresAt.getTime() - now < expiresSoon)
    .map((key) =>
      warn(
        about,
        `the ${key.role} key ${key.id} ("${key.name}") of ${key.environment} ${isOver(key) ? "expired" : "expires"} on ${key.expiresAt?.toISOString().slice(0, 10)}`,
        isOver(key)
          ? `halyard keys revoke ${key.id} --environment ${key.environment}`
          : "create a new key in time, and configure the clients that use this one",
      ),
    );
  const unused = valid
    .filter(({ lastUsedAt, createdAt }) => now - (lastUsedAt ?? createdAt).getTime() > unusedFor)
    .map(({ id, name, role, environment, lastUsedAt }) =>
      warn(
        about,
        `the ${role} key ${id} ("${name}") of ${environment} was ${lastUsedAt ? `last used on ${lastUsedAt.toISOString().slice(0, 10)}` : "never used"}`,
        `if it is not needed: halyard keys revoke ${id} --environment ${environment}`,
      ),
    );
  const last = Math.max(...keys.map(({ lastUsedAt }) => lastUsedAt?.getTime() ?? 0));
  const used = last > 0 ? `, last used ${new Date(last).toISOString()}` : ", none used yet";
  return orOk(
    [...withoutAdmin, ...ending, ...unused],
    about,
    `${counted(keys.length, "key")} in ${counted(environments.length, "environment")}${used}`,
  );
};
