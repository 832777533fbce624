// What the user can do about an error, in one sentence.
import type { ManagementError } from "@halyard/sdk/management";
import { ApiError } from "./api.ts";

export const adviceFor = ({ code, retryAfter }: ManagementError): string => {
  switch (code) {
    case "UNREACHABLE":
    case "UNAVAILABLE":
    case "ABORTED":
      return "Check that the server is running and that you are online, then try again.";
    case "UNAUTHORIZED":
      return "Your session has expired or its key was revoked. Sign in again.";
    case "FORBIDDEN":
      return "You may look at it but not change it. Ask for another role, or sign in with a key that may.";
    case "SIGN_IN_AGAIN":
      return "Nothing was changed. Try again, and sign in when you are asked to.";
    case "NOT_FOUND":
      return "It may have been deleted. Go back to the list.";
    case "APPROVAL_NEEDED":
      return "Ask somebody else to approve it, or an owner to do it.";
    case "TOO_MANY_FLIPS":
      return "Change fewer people at once, or confirm how many it may change.";
    case "CONFLICT":
      return "Change what is in the way, or choose another name, then try again.";
    case "PRECONDITION_FAILED":
      return "It changed since you opened it. Review the current version, then try again.";
    case "VALIDATION_FAILED":
    case "PAYLOAD_TOO_LARGE":
    case "UNSUPPORTED_MEDIA_TYPE":
    case "METHOD_NOT_ALLOWED":
      return "Correct the input and try again.";
    case "RATE_LIMITED":
      return retryAfter === undefined
        ? "Wait a minute, then try again."
        : `Wait ${Math.ceil(retryAfter / 1_000)} seconds, then try again.`;
    case "INTERNAL":
    case "UNEXPECTED_ANSWER":
      return "Try again. If it keeps failing, check the server log.";
  }
};

export interface Explained {
  readonly message: string;
  readonly advice: string;
}

export const explain = (error: unknown): Explained => {
  if (error instanceof ApiError) {
    const { failure } = error;
    const details = failure.details?.map(({ field, message }) => `${field} ${message}`).join("; ");
    return { message: details ?? failure.message, advice: adviceFor(failure) };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { message, advice: "Try again, or reload the page." };
};
