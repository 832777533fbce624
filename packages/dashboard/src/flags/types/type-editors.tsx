// The flag types as the dashboard shows and edits them. A new type is a file in this folder and a line here.
import type { FlagBase } from "@halyard/core/flags/flag-type";
import {
  type Flag,
  type FlagMembers,
  type FlagTypeName,
  isFlagTypeName,
} from "@halyard/core/flags/registry";
import type { ComponentType } from "react";
import { booleanEditor } from "./boolean-editor.tsx";
import { rolloutEditor } from "./rollout-editor.tsx";
import type { TypeEditor } from "./type-editor.ts";
import { variantEditor } from "./variant-editor.tsx";

type FlagOf<Name> = Extract<Flag, { readonly type: Name }>;

const editors: { readonly [Name in FlagTypeName]: TypeEditor<FlagOf<Name>> } = {
  boolean: booleanEditor,
  rollout: rolloutEditor,
  variant: variantEditor,
};

/** An editor as seen by code that works with any type. */
interface AnyTypeEditor
  extends Omit<TypeEditor<FlagBase>, "initial" | "MembersInput" | "Reach" | "Preview"> {
  readonly initial?: FlagMembers;
  readonly MembersInput?: ComponentType<{
    readonly value: FlagMembers;
    readonly onChange: (value: FlagMembers) => void;
    readonly disabled?: boolean;
    readonly isNew?: boolean;
    readonly saved?: FlagMembers;
    readonly isOff?: boolean;
  }>;
  readonly Reach: ComponentType<{ readonly flag: Flag; readonly size?: "small" | "large" }>;
  readonly Preview?: ComponentType<{ readonly flag: Flag }>;
}

/** A flag that a newer version wrote can be turned on and off only. */
const unknownEditor: AnyTypeEditor = {
  label: "unknown",
  explanation: "belongs to a newer version",
  usesTargetingKey: true,
  Reach: () => <span className="dimmed">unknown</span>,
};

export const editorOf = (type: string): AnyTypeEditor =>
  isFlagTypeName(type) ? (editors[type] as unknown as AnyTypeEditor) : unknownEditor;
