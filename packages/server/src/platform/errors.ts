// The closed list of errors, as values: use cases return these, and only http/ knows statuses.

export const errorCodes = [
  "VALIDATION_FAILED",
  "UNAUTHORIZED",
  "FORBIDDEN",
  "SIGN_IN_AGAIN",
  "NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "CONFLICT",
  "APPROVAL_NEEDED",
  "TOO_MANY_FLIPS",
  "PRECONDITION_FAILED",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "RATE_LIMITED",
  "INTERNAL",
  "UNAVAILABLE",
] as const;
export type ErrorCode = (typeof errorCodes)[number];

export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: readonly FieldProblem[];
  /** On PRECONDITION_FAILED: the flag or segment as it is now. */
  readonly current?: { readonly body: unknown; readonly version: number };
  /** On PRECONDITION_FAILED of a change request: the digest that it has now. */
  readonly digest?: string;
  /** On RATE_LIMITED: seconds to wait. */
  readonly retryAfter?: number;
  /** On TOO_MANY_FLIPS: whom the change would hit. */
  readonly preview?: object;
  /** On APPROVAL_NEEDED: the change request that was made in the place of the change, and where it is. */
  readonly proposed?: { readonly path: string; readonly body: unknown };
}

/** What is dangerous asks those who signed in a while ago. */
export const signInAgain: Failure = {
  code: "SIGN_IN_AGAIN",
  message: "You signed in a while ago; prove once more that it is you.",
};

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

export const ok = <T>(value: T): Result<T> => ({ ok: true, value });
export const fail = (failure: Failure): Result<never> => ({ ok: false, failure });

export const invalidField = (field: string, message: string): Failure => ({
  code: "VALIDATION_FAILED",
  message: `${field} ${message}.`,
  details: [{ field, message }],
});
export const invalid = (field: string, message: string): Result<never> =>
  fail(invalidField(field, message));

/** What is wrong with a request, each with its place. */
export const refused = (
  mistakes: readonly { readonly place: string; readonly message: string }[],
): Result<never> =>
  fail({
    code: "VALIDATION_FAILED",
    message: mistakes.map(({ place, message }) => `${place} ${message}.`).join(" "),
    details: mistakes.map(({ place, message }) => ({ field: place, message })),
  });

/** The same failure of a part of a request. */
export const failureIn = (place: string, failure: Failure): Failure => {
  if (failure.details === undefined) return failure;
  const details = failure.details.map(({ field, message }) => ({
    field: `${place}.${field}`,
    message,
  }));
  const message = details.map((each) => `${each.field} ${each.message}.`).join(" ");
  return { ...failure, message, details };
};

export const missing = (what: string, name: string): Failure => ({
  code: "NOT_FOUND",
  message: `${what} "${name}" does not exist.`,
});
export const notFound = (what: string, name: string): Result<never> => fail(missing(what, name));

export const conflict = (message: string): Result<never> => fail({ code: "CONFLICT", message });

/** It was deleted after the request was authenticated: its key is no longer valid. */
export const environmentGone: Failure = {
  code: "UNAUTHORIZED",
  message: "The environment of this API key does not exist any more.",
};
export const noEnvironment = fail(environmentGone);

/** The store is unavailable (busy, gone, disk full). Thrown by stores only; worth a retry. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
  /** Too many already wait for it: counted, but not logged each time. */
  readonly isCrowded: boolean;
  constructor(message: string, options: ErrorOptions & { readonly isCrowded?: boolean } = {}) {
    super(message, options);
    this.isCrowded = options.isCrowded ?? false;
  }
}

/** Ends a transaction on purpose, so that nothing of it happens: the store has not failed. */
export class RolledBack extends Error {
  override readonly name = "RolledBack";
}

/** Something the operator has to fix before the program can start. Its message is one clear sentence. */
export class StartupProblem extends Error {
  override readonly name: string = "StartupProblem";
}

/** This instance lacks the secret key that a request needs; others may have it. */
export class SecretKeyMissing extends StartupProblem {
  override readonly name = "SecretKeyMissing";
}

/** A setting or an option has a value that it cannot have. */
export class InvalidSettings extends StartupProblem {
  override readonly name = "InvalidSettings";
}
