// A rollout flag in the dashboard: a percentage, and a preview of who it includes.
import type { RolloutFlag } from "@halyard/core/flags/rollout";
import { RowsSkeleton } from "../../components/feedback/skeletons.tsx";
import { loadedLater } from "../../pages/load-page.tsx";
import { ReachBar } from "./reach-bar.tsx";
import type { TypeEditor } from "./type-editor.ts";

// The list of flags does without.
const RolloutInput = loadedLater(
  async () => (await import("./rollout-input.tsx")).RolloutInput,
  <RowsSkeleton rows={1} />,
);

export const rolloutEditor: TypeEditor<RolloutFlag> = {
  label: "rollout",
  explanation: "on for a percentage of users, always the same ones",
  usesTargetingKey: true,
  MembersInput: ({ value, onChange, disabled = false, isOff = false }) => (
    <RolloutInput
      value={value.percentage}
      onChange={(percentage) => onChange({ percentage })}
      disabled={disabled}
      isOff={isOff}
    />
  ),
  Reach: ReachBar,
  Preview: loadedLater(async () => (await import("./rollout-preview.tsx")).RolloutPreview),
};
