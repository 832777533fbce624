// Validates a segment, or a change of its lists. Reports every error with its place.
import { bytesOf, descriptionRule, flagKeyRule, isDescription, isFlagKey } from "../flags/rules.ts";
import { checkCondition, maxConditions } from "./conditions/check-condition.ts";
import { isObject, type Members, refuseOthers, type ValidationErrors } from "./mistakes.ts";
import { type MemberList, memberLists } from "./segment.ts";
import { maxWork, tooMuchWork, workOfCondition } from "./work.ts";

export const maxMemberBytes = 256;
/** Maximum for both lists together. */
export const maxMembers = 100_000;

/** Checks part of a list of targeting keys. */
const checkMembers = (members: unknown, place: string, errors: ValidationErrors): void => {
  if (!Array.isArray(members)) {
    errors.add(place, "must be a list of targeting keys");
    return;
  }
  for (const [index, member] of (members as unknown[]).entries()) {
    if (errors.isFull()) return;
    const isKey = typeof member === "string" && member !== "" && bytesOf(member) <= maxMemberBytes;
    if (!isKey) {
      errors.add(`${place}[${index}]`, `must be a string of 1 to ${maxMemberBytes} bytes`);
    }
  }
};

const memberNames = ["description", "include", "exclude", "when"] as const;

/** Checks the fields of a request. Missing fields are ignored. */
export const checkSegment = (request: Members, errors: ValidationErrors, isNew: boolean): void => {
  refuseOthers(request, isNew ? ["key", ...memberNames] : memberNames, "", errors);
  const { key, description, when } = request;
  if (isNew && !isFlagKey(key)) errors.add("key", `must be ${flagKeyRule}`);
  if (description !== undefined && !isDescription(description)) {
    errors.add("description", `must be ${descriptionRule}`);
  }
  for (const list of memberLists) {
    if (request[list] !== undefined) checkMembers(request[list], list, errors);
  }
  if (when !== undefined && when !== null) {
    const budget = { conditions: maxConditions };
    checkCondition(when, "when", { errors, budget, mayNameSegments: false });
    const work = Math.ceil(workOfCondition(when));
    if (work > maxWork) errors.add("when", tooMuchWork(work));
  }
};

export type MembersRequest = {
  readonly [List in MemberList]?: {
    readonly add?: readonly string[];
    readonly remove?: readonly string[];
  };
};

/** `{"include":{"add":[…],"remove":[…]},"exclude":{…}}`. */
export const checkMembersRequest = (request: Members, errors: ValidationErrors): void => {
  refuseOthers(request, memberLists, "", errors);
  if (!memberLists.some((list) => request[list] !== undefined)) {
    errors.add("include", "is required, or exclude: keys to add and to remove");
  }
  for (const list of memberLists) {
    const change = request[list];
    if (change === undefined) continue;
    if (!isObject(change)) {
      errors.add(list, "must be an object with add and remove");
      continue;
    }
    refuseOthers(change, ["add", "remove"], list, errors);
    for (const verb of ["add", "remove"]) {
      if (change[verb] !== undefined) checkMembers(change[verb], `${list}.${verb}`, errors);
    }
  }
};
