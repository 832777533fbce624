// The details of an evaluation as OpenFeature has them.
import type { FlagValue } from "@halyard/core/evaluate";
import type { ErrorCode, ResolutionDetails } from "@openfeature/core";
import { type Details, type FlagMetadata, notReady } from "../details.ts";

/** The reasons that OpenFeature does not have. A flag whose prerequisites are not met is off, like a disabled one. */
const standardReasons: Readonly<Partial<Record<Details["reason"], string>>> = {
  PREREQUISITE_FAILED: "DISABLED",
};

/** Undefined before `initialize`. OpenFeature takes any default, so `details` come from an evaluation with any value of the type. */
export const resolutionOf = <T>(
  details: Details<FlagValue> | undefined,
  defaultValue: T,
  metadata?: FlagMetadata,
): ResolutionDetails<T> => {
  const { value, variant, reason, rule, overridden, errorCode, errorMessage } =
    details ?? notReady(false);
  if (errorCode !== undefined) {
    const message = errorMessage !== undefined && { errorMessage };
    // A cast, because the enum is runtime code, and this package imports only types.
    return { value: defaultValue, reason, errorCode: errorCode as string as ErrorCode, ...message };
  }
  const standard = standardReasons[reason];
  const flagMetadata = {
    ...metadata,
    ...(standard !== undefined && { reason }),
    ...(rule !== undefined && { rule }),
    ...(overridden !== undefined && { overridden }),
  };
  return {
    value: value as T,
    ...(variant !== undefined && { variant }),
    reason: standard ?? reason,
    ...(Object.keys(flagMetadata).length > 0 && { flagMetadata }),
  };
};
