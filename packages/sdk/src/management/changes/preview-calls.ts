// The calls that preview which users a change would affect.
import { type CallOptions, type createSend, pathPart } from "../call.ts";
import type { FlagPatch } from "../resources.ts";
import type { ChangePreview, NewOperation, SegmentPreview } from "./change-requests.ts";

export interface PreviewOptions extends CallOptions {
  /** Rounds the counts even if the key can read contexts: for programs that pass the preview on. */
  readonly rounded?: boolean;
}

export const previewCalls = (send: ReturnType<typeof createSend>) => {
  const ask = (path: string, body: object, options?: CallOptions) =>
    send<ChangePreview>({ method: "POST", path, body, repeatable: true, options });
  return {
    /** Saves nothing. Rejected if the change would be rejected. */
    flag: (key: string, patch: FlagPatch, options?: CallOptions) =>
      ask(`/flags/${pathPart(key)}/preview`, { patch }, options),
    /** Includes all flags that reference the segment. */
    segment: (key: string, change: SegmentPreview, options?: CallOptions) =>
      ask(`/segments/${pathPart(key)}/preview`, change, options),
    /** At most 100 operations on flags and segments, together. */
    operations: (operations: readonly NewOperation[], options?: PreviewOptions) =>
      ask(options?.rounded ? "/preview?rounded=true" : "/preview", { operations }, options),
  };
};
