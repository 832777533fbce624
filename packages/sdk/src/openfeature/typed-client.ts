// OpenFeature's clients, limited to the keys and values of a program's flags. Types only: the client itself is OpenFeature's.
import type { EvaluationDetails, FlagValue, JsonValue } from "@openfeature/core";
import type { FlagKey, ValueOf } from "../flag-types.ts";

interface AnyClient {
  getBooleanValue(key: string, defaultValue: boolean, ...rest: never): unknown;
}

/** The parameters after the default value: in the server's SDK a context is the first. */
type Rest<Client extends AnyClient> = Client["getBooleanValue"] extends (
  key: string,
  defaultValue: boolean,
  ...rest: infer Parameters
) => unknown
  ? Parameters
  : never;

/** The server's SDK returns promises. */
type Returned<Client extends AnyClient, Result> =
  ReturnType<Client["getBooleanValue"]> extends Promise<unknown> ? Promise<Result> : Result;

interface Calls<Flags, Client extends AnyClient> {
  getBooleanValue(
    key: FlagKey<Flags, boolean>,
    defaultValue: boolean,
    ...rest: Rest<Client>
  ): Returned<Client, boolean>;
  getBooleanDetails(
    key: FlagKey<Flags, boolean>,
    defaultValue: boolean,
    ...rest: Rest<Client>
  ): Returned<Client, EvaluationDetails<boolean>>;
  getStringValue<Key extends FlagKey<Flags, string>>(
    key: Key,
    defaultValue: ValueOf<Flags, Key, string>,
    ...rest: Rest<Client>
  ): Returned<Client, ValueOf<Flags, Key, string>>;
  getStringDetails<Key extends FlagKey<Flags, string>>(
    key: Key,
    defaultValue: ValueOf<Flags, Key, string>,
    ...rest: Rest<Client>
  ): Returned<Client, EvaluationDetails<ValueOf<Flags, Key, string>>>;
  getNumberValue<Key extends FlagKey<Flags, number>>(
    key: Key,
    defaultValue: ValueOf<Flags, Key, number>,
    ...rest: Rest<Client>
  ): Returned<Client, ValueOf<Flags, Key, number>>;
  getNumberDetails<Key extends FlagKey<Flags, number>>(
    key: Key,
    defaultValue: ValueOf<Flags, Key, number>,
    ...rest: Rest<Client>
  ): Returned<Client, EvaluationDetails<ValueOf<Flags, Key, number>>>;
  getObjectValue<Key extends FlagKey<Flags, object>>(
    key: Key,
    defaultValue: ValueOf<Flags, Key, JsonValue>,
    ...rest: Rest<Client>
  ): Returned<Client, ValueOf<Flags, Key, JsonValue>>;
  getObjectDetails<Key extends FlagKey<Flags, object>>(
    key: Key,
    defaultValue: ValueOf<Flags, Key, JsonValue>,
    ...rest: Rest<Client>
  ): Returned<Client, EvaluationDetails<ValueOf<Flags, Key, FlagValue>>>;
}

export type Typed<Flags, Client extends AnyClient> = Omit<Client, keyof Calls<Flags, Client>> &
  Calls<Flags, Client>;
