// Holds values against the schemas of /openapi.json. Most operations share a few of them, and each is compiled once.
import { Ajv2020 } from "ajv/dist/2020.js";

export interface Describing {
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

/** What is wrong with the value; undefined when nothing is. */
export type FaultOf = (schema: object, value: unknown) => string | undefined;

export const faultsBy = ({ components }: Describing): FaultOf => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, multipleOfPrecision: 6 });
  // By an id of its own, ajv compiles a component once. A part of one big schema it compiles for each that names it.
  const named = (schema: object): object =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"halyard:')) as object;
  for (const [name, schema] of Object.entries(components.schemas)) {
    ajv.addSchema(named(schema), `halyard:${name}`);
  }
  type Validate = ReturnType<typeof ajv.compile>;
  const byText = new Map<string, Validate>();
  const bySchema = new WeakMap<object, Validate>();
  const validatorOf = (schema: object): Validate => {
    const text = JSON.stringify(schema);
    const validate = byText.get(text) ?? ajv.compile(named(schema));
    byText.set(text, validate);
    bySchema.set(schema, validate);
    return validate;
  };
  return (schema, value) => {
    const validate = bySchema.get(schema) ?? validatorOf(schema);
    return validate(value) ? undefined : ajv.errorsText(validate.errors);
  };
};
