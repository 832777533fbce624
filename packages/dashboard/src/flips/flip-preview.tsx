// Whom a change would change, beside what it changes. It comes when it can: nothing waits for it, and nothing fails with it.
import { lazy, Suspense } from "react";
import type { AskedPreviewProps } from "./asked-preview.tsx";

const AskedPreview = lazy(() =>
  import("./asked-preview.tsx").then(
    (loaded) => ({ default: loaded.AskedPreview }),
    () => ({ default: () => null }),
  ),
);

export const FlipPreview = (props: AskedPreviewProps) =>
  props.api.may("flags.preview") && (
    <Suspense>
      <AskedPreview {...props} />
    </Suspense>
  );
