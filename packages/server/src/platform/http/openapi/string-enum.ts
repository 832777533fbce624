// A schema for one of some strings. It names the type too, which TypeBox leaves out and clients are generated from.
import { type TSchemaOptions, Type } from "typebox";

export const stringEnum = <Values extends string[]>(
  values: readonly [...Values],
  options: TSchemaOptions = {},
) => Type.Enum(values, { type: "string", ...options });
