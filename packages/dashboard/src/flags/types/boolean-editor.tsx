// A boolean flag in the dashboard: a switch, and nothing else to set.
import type { BooleanFlag } from "@halyard/core/flags/boolean";
import { ReachBar } from "./reach-bar.tsx";
import type { TypeEditor } from "./type-editor.ts";

export const booleanEditor: TypeEditor<BooleanFlag> = {
  label: "boolean",
  explanation: "on or off for everyone",
  usesTargetingKey: false,
  Reach: ReachBar,
};
