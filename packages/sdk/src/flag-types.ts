// Types of the flags that a program declares, such as the interface that `halyard types` writes.
import type { FlagValue } from "@halyard/core/evaluate";

/** The flags of a program that declares none: any key, with a value of any type. */
// biome-ignore lint/suspicious/noExplicitAny: a client with declared flags is then assignable to any client.
export type AnyFlags = any;

/** Every key, for a program that declares no flags; otherwise none. */
export type UndeclaredKey<Flags> = string extends keyof Flags ? string : never;

/** The keys of the flags whose values are all of this kind. */
export type FlagKey<Flags, Kind = FlagValue> = string extends keyof Flags
  ? string
  : {
      [Key in keyof Flags]: Flags[Key][keyof Flags[Key]] extends Kind ? Key : never;
    }[keyof Flags] &
      string;

/** The values of the flag's variants. */
export type ValueOf<Flags, Key, Kind = FlagValue> = string extends keyof Flags
  ? Kind
  : Key extends keyof Flags
    ? Extract<Flags[Key][keyof Flags[Key]], Kind>
    : never;

/** The names of the flag's variants. */
export type VariantOf<Flags, Key> = string extends keyof Flags
  ? string
  : Key extends keyof Flags
    ? keyof Flags[Key] & string
    : never;

/** Values by flag key. */
export type FlagValues<Flags = AnyFlags> = string extends keyof Flags
  ? Readonly<Record<string, FlagValue>>
  : { readonly [Key in keyof Flags]?: Flags[Key][keyof Flags[Key]] };
