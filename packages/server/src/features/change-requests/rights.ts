// What people may do here now, read in the transaction that counts on it: what is in memory may be a moment old.

import { type Caller, may, type Role } from "../../platform/auth/principal.ts";
import type { Db } from "../../platform/database/db.ts";
import { ok, type Result } from "../../platform/errors.ts";
import { roleIn } from "../people/access.ts";
import { type Approval, type ChangeRequest, forbidden, identityOf } from "./change-request.ts";
import { givenApprovals } from "./rules.ts";

const mayReview = (role: Role | undefined): role is Role =>
  role !== undefined && may({ role }, "change-requests.review");

/** The role of a reviewer. A personal key may have less rights than its person. */
export const reviewerRole = async (
  db: Db,
  { environment }: Pick<Caller, "environment">,
  userId: string,
): Promise<Result<Role>> => {
  const role = await roleIn(db, environment.id, userId);
  return mayReview(role) ? ok(role) : forbidden("You may no longer review changes here.");
};

/** Whether a person who was an owner when they called still is one. */
export const checkStillOwner = async (
  db: Db,
  { actor, environment }: Pick<Caller, "actor" | "environment">,
): Promise<Result<void>> =>
  actor.user === undefined || (await roleIn(db, environment.id, actor.user.id)) === "owner"
    ? ok(undefined)
    : forbidden("You are no longer an owner, so you can't go past the approval.");

/** Those whose giver may no longer review here, or whose account was removed. */
export const lapsedApprovals = async (
  db: Db,
  environmentId: number,
  request: ChangeRequest,
): Promise<readonly Approval[]> => {
  const lapsed: Approval[] = [];
  for (const approval of givenApprovals(request)) {
    const role = await roleIn(db, environmentId, identityOf(approval.actor));
    if (!mayReview(role)) lapsed.push(approval);
  }
  return lapsed;
};
