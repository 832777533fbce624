// In a protected environment a change is answered with the change request that was made in its place: where that is shown.
import type { ChangeRequestSummary, ManagementError } from "@halyard/sdk/management";

export const pathOfRequest = (id: string): string => `/change-requests/${id}`;

/** Of the environment that it changes, which need not be the one that is shown. */
export const addressOfRequest = ({
  id,
  environment,
}: Pick<ChangeRequestSummary, "id" | "environment">): string =>
  `/environments/${environment}${pathOfRequest(id)}`;

/** The address of the request that was made instead of the change. */
export const proposedAt = ({ proposed }: ManagementError): string | undefined =>
  proposed && addressOfRequest(proposed);
