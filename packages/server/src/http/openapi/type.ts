// TypeBox's types over plain JSON Schema values: the few constructors that Halyard uses. Loading TypeBox itself, 370 modules, takes
// about 0.1 s of processor time and 9 MB of memory at every start.
import type { TSchema, Type as TypeBox } from "typebox";

export type { Static, TObjectOptions, TProperties, TSchema } from "typebox";

type Options = Readonly<Record<string, unknown>>;
type Schema = Options & TSchema;

const optional = new WeakSet<object>();
const literalTypes: Readonly<Record<string, string>> = { string: "string", number: "number" };

const constructors = {
  String: (options?: Options) => ({ type: "string", ...options }),
  Integer: (options?: Options) => ({ type: "integer", ...options }),
  Number: (options?: Options) => ({ type: "number", ...options }),
  Boolean: (options?: Options) => ({ type: "boolean", ...options }),
  Null: (options?: Options) => ({ type: "null", ...options }),
  Literal: (value: string | number) => ({ type: literalTypes[typeof value], const: value }),
  Enum: (values: readonly string[], options?: Options) => ({
    type: "string",
    enum: values,
    ...options,
  }),
  Array: (items: Schema, options?: Options) => ({ type: "array", items, ...options }),
  Union: (schemas: readonly Schema[], options?: Options) => ({ anyOf: schemas, ...options }),
  Unsafe: (schema: Options) => schema,
  /** Any text is a name: no route needs less. */
  Record: (_name: Schema, value: Schema, options?: Options) => ({
    type: "object",
    patternProperties: { "^.*$": value },
    ...options,
  }),
  Optional(schema: Schema) {
    const copy = { ...schema };
    optional.add(copy);
    return copy;
  },
  Object(properties: Readonly<Record<string, Schema>>, options?: Options) {
    const required = Object.keys(properties).filter((name) => {
      const property = properties[name];
      return property !== undefined && !optional.has(property);
    });
    return { type: "object", ...(required.length > 0 && { required }), properties, ...options };
  },
};

export const Type = constructors as unknown as Pick<typeof TypeBox, keyof typeof constructors>;
