// Whom a change would change, beside what it changes. It comes when it can: nothing waits for it, and nothing fails with it.
import type { NewOperation } from "@halyard/sdk/management";
import { lazy, Suspense } from "react";
import type { AskedPreviewProps } from "./asked-preview.tsx";
import { FlipsPlace } from "./flips-place.tsx";

const AskedPreview = lazy(() =>
  import("./asked-preview.tsx").then(
    (loaded) => ({ default: loaded.AskedPreview }),
    () => ({ default: FlipsPlace }),
  ),
);

const forPeople = new Set(["description", "tags", "owner"]);

/** Whether it can change what somebody gets. */
const matters = ({ kind, action, body }: NewOperation): boolean => {
  if (kind !== "flag" && kind !== "segment") return false;
  return action !== "patch" || Object.keys(body ?? {}).some((name) => !forPeople.has(name));
};

export const FlipPreview = ({ api, operations }: AskedPreviewProps) => {
  const asked = operations.filter(matters);
  if (asked.length === 0 || !api.may("flags.preview")) return null;
  return (
    <Suspense fallback={<FlipsPlace />}>
      <AskedPreview api={api} operations={asked} />
    </Suspense>
  );
};
