// Counts the approvals of a scheduled change request again when it is due: its reviewers may have lost their roles.

import type { Db } from "../../platform/database/db.ts";
import { conflict, ok, type Result } from "../../platform/errors.ts";
import { roleIn } from "../people/access.ts";
import { type ChangeRequest, identityOf } from "./change-request.ts";
import { lapsedApprovals } from "./rights.ts";
import { givenApprovals, withoutApprovals } from "./rules.ts";
import { approvalsNeeded } from "./show.ts";

export const checkApprovals = async (
  db: Db,
  environmentId: number,
  request: ChangeRequest,
): Promise<Result<void>> => {
  const lapsed = await lapsedApprovals(db, environmentId, request);
  const left = givenApprovals(withoutApprovals(request, lapsed));
  if (left.length >= (await approvalsNeeded(db, request))) return ok(undefined);
  for (const { actor } of left) {
    if ((await roleIn(db, environmentId, identityOf(actor))) === "owner") return ok(undefined);
  }
  return conflict(
    "It no longer has enough approvals: a reviewer lost their role, or the author's account was removed. It needs to be approved again.",
  );
};
