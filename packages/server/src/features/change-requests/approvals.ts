// Counts the approvals of a scheduled change request again when it is due: its reviewers may have lost their roles.

import { conflict, ok, type Result } from "../../platform/errors.ts";
import type { UserReads } from "../people/user.ts";
import { type ChangeRequest, identityOf } from "./change-request.ts";
import { lapsedApprovals, roleIn } from "./rights.ts";
import { givenApprovals, withoutApprovals } from "./rules.ts";
import { approvalsNeeded } from "./show.ts";

export const checkApprovals = async (
  reads: Pick<UserReads, "accessOf" | "user">,
  environmentId: number,
  request: ChangeRequest,
): Promise<Result<void>> => {
  const lapsed = await lapsedApprovals(reads, environmentId, request);
  const left = givenApprovals(withoutApprovals(request, lapsed));
  if (left.length >= (await approvalsNeeded(reads, request))) return ok(undefined);
  for (const { actor } of left) {
    if ((await roleIn(reads, environmentId, identityOf(actor))) === "owner") return ok(undefined);
  }
  return conflict(
    "It no longer has enough approvals: a reviewer lost their role, or the author's account was removed. It needs to be approved again.",
  );
};
