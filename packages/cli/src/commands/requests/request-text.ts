// Formats a change request as text.
import type {
  ChangeRequest,
  ChangeRequestSummary,
  RebasedChangeRequest,
} from "@halyard/sdk/management";
import { actorInLine } from "../../terminal/flag-text.ts";
import { type Cell, colored, inOneLine, print, withoutControls } from "../../terminal/output.ts";

const styles = {
  open: "yellow",
  approved: "cyan",
  applied: "green",
  refused: "red",
  withdrawn: "dim",
} as const;

export const stateCell = ({ state, moved }: ChangeRequestSummary): Cell => ({
  style: styles[state],
  text: moved.length > 0 ? `${state}, outdated` : state,
});

const line = (text: string): void => print(inOneLine(text));

const asText = (value: unknown): string => (value === undefined ? "-" : JSON.stringify(value));

/** The changed fields, such as `enabled: false → true`. */
const differences = (before: unknown, after: unknown): readonly string[] => {
  const [old, now] = [before, after].map((each) => (each ?? {}) as Record<string, unknown>);
  const names = [...new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])];
  return names
    .filter((name) => asText(old?.[name]) !== asText(now?.[name]))
    .map((name) => `${name}: ${asText(old?.[name])} → ${asText(now?.[name])}`);
};

const printOperation = (operation: ChangeRequest["operations"][number]): void => {
  const { kind, key, action, version, before, after } = operation;
  line(`  ${action} ${kind} ${key}${version === null ? "" : ` (based on version ${version})`}`);
  for (const each of differences(before, after)) line(`    ${each}`);
};

/** A request needs more than one approval if its author is a key without a user. */
export const missingApprovals = ({
  state,
  approvals,
  approvalsNeeded,
}: ChangeRequest): string | undefined => {
  if (state !== "open" || approvalsNeeded === 1) return undefined;
  const given = approvals.filter((each) => each.state === "given").length;
  return `${given} of ${approvalsNeeded} approvals: its author is a key without a user, so it needs two approvers, or an owner`;
};

export const printRequest = (request: ChangeRequest): void => {
  const { id, title, state, reason, author, applyAt, moved, bypass } = request;
  print(`${colored("bold", `${id} ${title}`)}  ${colored(styles[state], state)}`);
  line(`  by ${actorInLine(author)} at ${request.createdAt}`);
  if (reason !== null) line(`  because: ${reason}`);
  if (applyAt !== null) line(`  to be applied at ${applyAt}`);
  if (moved.length > 0) line(`  changed since: ${moved.join(", ")}`);
  if (bypass) line(`  applied without approval by ${actorInLine(bypass.actor)}: ${bypass.reason}`);
  for (const operation of request.operations) printOperation(operation);
  for (const { actor, at, state: given } of request.approvals) {
    const voided = given === "given" ? "" : " (no longer counts)";
    line(`  approved by ${actorInLine(actor)} at ${at}${voided}`);
  }
  const missing = missingApprovals(request);
  if (missing !== undefined) line(`  ${missing}`);
  for (const { actor, at, text } of request.comments) {
    line(`  ${actorInLine(actor)} at ${at}:`);
    print(withoutControls(text.replaceAll(/^/gm, "    ")));
  }
};

export const printDifference = (difference: RebasedChangeRequest["difference"]): void => {
  for (const { kind, key, was, is } of difference) {
    line(`${kind} ${key} has changed since the request:`);
    for (const each of differences(was, is)) line(`  ${each}`);
  }
};
