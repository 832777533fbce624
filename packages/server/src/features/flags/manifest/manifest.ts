// Flags as an OpenFeature manifest shows them, and entries of a manifest as changes of flags. The default value is the off value.
import { isSameValue } from "@halyard/core/difference";
import type { FlagValue } from "@halyard/core/evaluate";
import {
  type CreateFlag,
  choiceOf,
  isFlagTypeName,
  type PatchFlag,
} from "@halyard/core/flags/registry";
import type { ValueType } from "@halyard/core/flags/variant";
import { isKnownLevel } from "@halyard/core/levels";
import { isObject } from "@halyard/core/targeting/mistakes";
import { placesServing } from "@halyard/core/targeting/references";
import { fail, invalid, ok, type Result } from "../../../platform/errors.ts";
import type { VersionedFlag } from "../../../writes/change.ts";

/** `float` is no type of the API's description, but one of the manifests that its tools write. */
export const manifestTypes = ["boolean", "string", "integer", "float", "object"] as const;
export type ManifestType = (typeof manifestTypes)[number];

export interface ManifestFlag {
  readonly key: string;
  readonly type: ManifestType;
  readonly description: string | null;
  readonly defaultValue: FlagValue;
}

/** An entry as it is sent. */
export interface ManifestEntry {
  readonly key: string;
  readonly type: ManifestType;
  readonly name?: string;
  readonly description?: string | null;
  readonly defaultValue?: FlagValue;
}

const typeOfValues = (values: readonly FlagValue[]): ManifestType => {
  const [first] = values;
  if (typeof first === "boolean") return "boolean";
  if (typeof first === "string") return "string";
  if (typeof first === "object") return "object";
  return values.every(Number.isInteger) ? "integer" : "float";
};

/** Undefined for a flag that only a newer version understands. */
export const toManifest = ({ flag, level }: VersionedFlag): ManifestFlag | undefined => {
  if (!isFlagTypeName(flag.type) || !isKnownLevel(level)) return undefined;
  const { variants, off } = choiceOf(flag);
  const defaultValue = variants[off];
  if (defaultValue === undefined) return undefined;
  const { key, description } = flag;
  return { key, type: typeOfValues(Object.values(variants)), description, defaultValue };
};

/** What a manifest can say and Halyard cannot. */
const cannot = (field: keyof ManifestEntry, message: string): Result<never> =>
  fail({ code: "CONFLICT", message, details: [{ field, message }] });

const article = (type: ManifestType): string =>
  type === "integer" || type === "object" ? `an ${type}` : `a ${type}`;

const isOfType = (type: ManifestType, value: FlagValue): boolean => {
  if (type === "integer") return Number.isInteger(value);
  if (type === "float") return typeof value === "number";
  return type === "object" ? isObject(value) : typeof value === type;
};

const checkName = ({ key, name }: ManifestEntry): Result<void> =>
  name === undefined || name === key
    ? ok(undefined)
    : cannot("name", "Flags have no name beside their key; leave the name out.");

const checkDefault = ({ type, defaultValue: value }: ManifestEntry): Result<void> => {
  if (value === undefined) return ok(undefined);
  if (!isOfType(type, value)) return invalid("defaultValue", `must be ${article(type)}`);
  return value === true
    ? cannot(
        "defaultValue",
        "A boolean flag gives false while it is off, so its default value is false; turn the flag on to give true.",
      )
    : ok(undefined);
};

const wholeFloat = cannot(
  "type",
  "All values of the flag are whole numbers, so its type is integer and not float; use the type integer, or a value with a fraction.",
);

export const toCreate = (
  entry: ManifestEntry & { readonly defaultValue: FlagValue },
): Result<CreateFlag> => {
  const named = checkName(entry);
  if (!named.ok) return named;
  const checked = checkDefault(entry);
  if (!checked.ok) return checked;
  const { key, type, description = null, defaultValue } = entry;
  if (type === "boolean") return ok({ key, type, description });
  if (type === "float" && Number.isInteger(defaultValue)) return wholeFloat;
  const valueType: ValueType = type === "integer" || type === "float" ? "number" : type;
  const variants = { default: defaultValue };
  return ok({
    ...{ key, type: "variant", description, valueType, variants },
    ...{ off: "default", otherwise: "default" },
  });
};

/** What gives the flag another off value, and nobody whom it serves something else. */
const changeDefault = (
  { flag }: VersionedFlag,
  type: ManifestType,
  value: FlagValue,
): Result<PatchFlag> => {
  const { variants, off, otherwise } = choiceOf(flag);
  if (isSameValue(variants[off], value)) return ok({});
  const same = Object.keys(variants).find((name) => isSameValue(variants[name], value));
  if (same !== undefined) return ok({ off: same });
  const places = placesServing(flag, { otherwise }, off);
  if (places.length > 0 && Object.keys(variants).length > 1) {
    return cannot(
      "defaultValue",
      `The default value is that of the variant "${off}", which the flag also serves while it is on, in ${places.join(", ")}; change the variants of the flag in Halyard.`,
    );
  }
  const after = { ...variants, [off]: value };
  return typeOfValues(Object.values(after)) === type ? ok({ variants: after }) : wholeFloat;
};

/** The entry replaces what the manifest shows of the flag; without a default value, that stays. */
export const toPatch = (current: VersionedFlag, entry: ManifestEntry): Result<PatchFlag> => {
  const { key, type, description = null, defaultValue } = entry;
  if (key !== current.flag.key) return invalid("key", "must be the key in the path");
  const shown = toManifest(current);
  if (!shown) {
    return cannot("key", `The flag "${key}" needs a newer version of Halyard to be changed here.`);
  }
  if (shown.type !== type) {
    return shown.type === "integer" && type === "float"
      ? wholeFloat
      : cannot("type", `The type of a flag cannot be changed from ${shown.type} to ${type}.`);
  }
  const named = checkName(entry);
  if (!named.ok) return named;
  const checked = checkDefault(entry);
  if (!checked.ok) return checked;
  if (defaultValue === undefined) return ok({ description });
  const changed = changeDefault(current, type, defaultValue);
  return changed.ok ? ok({ description, ...changed.value }) : changed;
};
