// A rollout flag in the dashboard: a percentage, and a preview of who it includes.
import type { RolloutFlag } from "@halyard/core/flags/rollout";
import { ReachBar } from "./reach-bar.tsx";
import { RolloutInput } from "./rollout-input.tsx";
import { RolloutPreview } from "./rollout-preview.tsx";
import type { TypeEditor } from "./type-editor.ts";

export const rolloutEditor: TypeEditor<RolloutFlag> = {
  label: "rollout",
  explanation: "on for a percentage of users, always the same ones",
  usesTargetingKey: true,
  MembersInput: ({ value, onChange, disabled = false }) => (
    <RolloutInput
      value={value.percentage}
      onChange={(percentage) => onChange({ percentage })}
      disabled={disabled}
    />
  ),
  Reach: ReachBar,
  Preview: RolloutPreview,
};
