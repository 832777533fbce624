// In a protected environment a plan is proposed instead of carried out: all of it in one change request, if that takes so many.
import type { Change } from "@halyard/core/plan/plan";
import { stagesOf } from "@halyard/core/plan/stages";
import type { ChangeRequest, NewOperation } from "@halyard/sdk";
import { notifyError, notifyProposed } from "../components/feedback/notify.tsx";
import { formatNumber } from "../format.ts";
import { pathOfRequest } from "../proposal.ts";
import type { Run } from "./run.ts";

/** What the server takes in one request. */
const mostOperations = 100;

type Versions = ReadonlyMap<string, number>;

const ofFlag = (change: Change & { readonly of: "flag" }, versions: Versions): NewOperation[] => {
  const { key } = change;
  const version = versions.get(key);
  const seen = version === undefined ? {} : { version };
  switch (change.kind) {
    case "create": {
      // What is created is off, and a request changes each flag once: turning it on is another request.
      const { enabled: _, ...body } = change.flag;
      return [{ kind: "flag", key, action: "create", body }];
    }
    case "update":
      return [{ kind: "flag", key, action: "patch", body: change.patch, ...seen }];
    case "delete":
      return [{ kind: "flag", key, action: "delete", ...seen }];
    case "retype":
      return [];
  }
};

const ofSegment = (change: Change & { readonly of: "segment" }): NewOperation => {
  const { key } = change;
  switch (change.kind) {
    case "create":
      return { kind: "segment", key, action: "create", body: change.segment };
    case "update": {
      const { key: _, ...body } = change.after;
      return { kind: "segment", key, action: "patch", body };
    }
    case "delete":
      return { kind: "segment", key, action: "delete" };
  }
};

/** In the order in which they can be applied: what others name comes first. */
export const operationsOf = (changes: readonly Change[], versions: Versions): NewOperation[] =>
  stagesOf(changes)
    .flat()
    .flatMap((change) => (change.of === "flag" ? ofFlag(change, versions) : [ofSegment(change)]));

/** More than one request takes is proposed in several. */
export const proposePlan = async ({ api, changes, versions, reason }: Run): Promise<void> => {
  const { changeRequests } = api.management;
  const operations = operationsOf(changes, versions);
  let first: ChangeRequest | undefined;
  for (let at = 0; at < operations.length; at += mostOperations) {
    const result = await changeRequests.create({
      operations: operations.slice(at, at + mostOperations),
      ...(reason !== undefined && { reason }),
    });
    if (!result.ok) {
      const done =
        at === 0 ? "Nothing" : `Only ${formatNumber(at)} of ${operations.length} changes`;
      notifyError(`${done} was proposed`, result.error);
      break;
    }
    first ??= result.value;
  }
  if (first !== undefined) {
    notifyProposed(`/environments/${api.environment.name}${pathOfRequest(first.id)}`);
  }
};
