// In a protected environment the server answers a change with a request to approve it: for the page a refusal that names the request.
import type { ManagementError } from "@halyard/sdk";

const field = "changeRequest";

export const pathOfRequest = (id: string): string => `/change-requests/${encodeURIComponent(id)}`;

/** Nothing has changed, so whoever asked must not take the answer for what they asked for. */
export const refuseProposed = async (response: Response): Promise<Response> => {
  const isProposed = response.headers.get("location")?.includes("/change-requests/") === true;
  if (response.status !== 202 || !isProposed) return response;
  // Of the environment that it changes, which need not be the one that is shown.
  const { id, environment } = (await response.json()) as { id: string; environment: string };
  const address = `/environments/${environment}${pathOfRequest(id)}`;
  return Response.json(
    {
      error: "APPROVAL_NEEDED",
      message: "It is proposed.",
      details: [{ field, message: address }],
    },
    { status: 409 },
  );
};

/** The address of the request that was made instead of the change. */
export const proposedAt = ({ details }: ManagementError): string | undefined =>
  details?.find((detail) => detail.field === field)?.message;
