// What the dashboard must know about a flag type beyond core's registry: its labels and its own components.
import type { FlagBase, MemberName } from "@halyard/core/flags/flag-type";
import type { ComponentType } from "react";

interface MembersInputProps<Members> {
  readonly value: Members;
  readonly onChange: (value: Members) => void;
  readonly disabled?: boolean;
  /** What is fixed at creation can still be chosen. */
  readonly isNew?: boolean;
  /** What is saved; undefined of a new flag. */
  readonly saved?: Members;
  /** The flag is off, so its settings have no effect now. */
  readonly isOff?: boolean;
}

export interface TypeEditor<F extends FlagBase> {
  /** In lists and filters. */
  readonly label: string;
  /** Follows the label where a type is chosen. */
  readonly explanation: string;
  /** Whether programs pass a targeting key when they evaluate such a flag. */
  readonly usesTargetingKey: boolean;
  /** What a new flag begins with, of a type whose members have no initial values. */
  readonly initial?: Pick<F, MemberName<F>>;
  /** Edits the type's own members; undefined when it has none. */
  readonly MembersInput?: ComponentType<MembersInputProps<Pick<F, MemberName<F>>>>;
  /** Shows who gets the flag, in the list and at the top of its page. */
  readonly Reach: ComponentType<{ readonly flag: F; readonly size?: "small" | "large" }>;
  /** A section of the flag's page. */
  readonly Preview?: ComponentType<{ readonly flag: F }>;
}
