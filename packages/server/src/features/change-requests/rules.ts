// Who may review a change request, and how many approvals it needs.

import type { Actor, UserRef } from "../../platform/auth/principal.ts";
import { conflict, ok, type Result } from "../../platform/errors.ts";
import { type Approval, type ChangeRequest, forbidden, identityOf } from "./change-request.ts";

/** A person who is signed in, or with a personal key. */
export const checkPerson = ({ user }: Actor): Result<UserRef> =>
  user
    ? ok(user)
    : forbidden(
        "Only a person can approve or refuse a change request: sign in with an account, or use a personal key.",
      );

const nextStep =
  "Ask another person with the role editor or higher; an owner can apply it without an approval (halyard requests bypass)";

/** Fails if the reviewer is an author of the request. `sameHuman` has the ids of all accounts of the reviewer. */
export const checkReviewer = (
  { authors }: Pick<ChangeRequest, "authors">,
  { id }: UserRef,
  sameHuman: ReadonlySet<string>,
): Result<void> => {
  if (authors.includes(id)) {
    return forbidden(`You can't review your own change request. ${nextStep}.`);
  }
  return authors.some((author) => sameHuman.has(author))
    ? forbidden(
        `You can't review this change request: its author's account has, or had, the same e-mail address as yours, or an owner linked the two. ${nextStep}.`,
      )
    : ok(undefined);
};

/** The approvals needed without an owner's: one reviewer might hold a key that belongs to no person. */
export const approvalsFor = (hasPerson: boolean): number => (hasPerson ? 1 : 2);

export const givenApprovals = ({ approvals }: ChangeRequest): readonly Approval[] =>
  approvals.filter(({ state }) => state === "given");

/** The same request, where these approvals don't count. */
export const withoutApprovals = (
  request: ChangeRequest,
  lapsed: readonly Approval[],
): ChangeRequest => ({
  ...request,
  approvals: request.approvals.map((each) =>
    lapsed.includes(each) ? { ...each, state: "voided" } : each,
  ),
});

/** One human approves once. */
export const checkFirstApproval = (
  request: ChangeRequest,
  sameHuman: ReadonlySet<string>,
): Result<void> =>
  givenApprovals(request).some(({ actor }) => sameHuman.has(identityOf(actor)))
    ? conflict(
        "You have approved this change request already. A key that belongs to no person proposed it: it needs another person's approval too, or an owner's alone.",
      )
    : ok(undefined);
