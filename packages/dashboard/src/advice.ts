// What a person can do about an error, in a sentence.
import type { ManagementError } from "@halyard/sdk";
import { ApiError } from "./api.ts";

export const adviceFor = ({ code, retryAfter }: ManagementError): string => {
  switch (code) {
    case "UNREACHABLE":
    case "UNAVAILABLE":
    case "ABORTED":
      return "Check that the server runs and that you are online; then try again.";
    case "UNAUTHORIZED":
      return "Your session is over or its key was revoked: sign in again.";
    case "FORBIDDEN":
      return "The key you signed in with may only read. Sign in with an admin key of this environment to make changes.";
    case "NOT_FOUND":
      return "It may have been deleted meanwhile: go back to the list.";
    case "CONFLICT":
      return "Choose another name, or open the one that is there.";
    case "PRECONDITION_FAILED":
      return "Somebody changed it meanwhile: look at how it is now, then decide again.";
    case "VALIDATION_FAILED":
    case "PAYLOAD_TOO_LARGE":
    case "UNSUPPORTED_MEDIA_TYPE":
    case "METHOD_NOT_ALLOWED":
      return "Correct the entry and send it again.";
    case "RATE_LIMITED":
      return retryAfter === undefined
        ? "Wait a minute, then try again."
        : `Wait ${Math.ceil(retryAfter / 1_000)} seconds, then try again.`;
    case "INTERNAL":
    case "UNEXPECTED_ANSWER":
      return "Try again; when it goes on, look into the server's log.";
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
  return { message, advice: "Load the page again." };
};
