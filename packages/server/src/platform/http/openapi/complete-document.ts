// What the description needs and the schemas of the routes do not say.
import { targetingSchemas } from "@halyard/core/targeting/schemas";

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A body that may also be null may be left out. */
const markOptionalBody = ({ requestBody }: Json): void => {
  if (!isObject(requestBody) || !isObject(requestBody.content)) return;
  for (const content of Object.values(requestBody.content)) {
    const schema = isObject(content) ? content.schema : undefined;
    if (!isObject(schema) || !Array.isArray(schema.type)) continue;
    const [type, ...others] = schema.type.filter((each) => each !== "null");
    requestBody.required = schema.type.length === 1 + others.length;
    schema.type = others.length === 0 ? type : [type, ...others];
  }
};

/** What requests are not checked against stands under `x-schema`. */
const showSchema = (schema: Json): void => {
  const { "x-schema": shown } = schema;
  if (!isObject(shown)) return;
  delete schema["x-schema"];
  Object.assign(schema, shown, schema);
};

/** Generators of clients understand one type in a list of types, beside null, and no more. */
const separateTypes = (schema: Json): void => {
  const { type: types } = schema;
  if (!Array.isArray(types) || types.filter((type) => type !== "null").length < 2) return;
  delete schema.type;
  schema.anyOf = types.map((type: string) => ({ type }));
};

const inEach = (value: unknown, complete: (schema: Json) => void): void => {
  if (isObject(value)) complete(value);
  if (typeof value !== "object" || value === null) return;
  for (const inner of Object.values(value)) inEach(inner, complete);
};

/** A document of its own: what several places of the given one share would become aliases in YAML. */
export const completeDocument = <T extends { readonly paths?: object }>(given: T): T => {
  const document = JSON.parse(JSON.stringify(given)) as T;
  const { components } = document as { components?: { schemas?: object } };
  Object.assign(components?.schemas ?? {}, JSON.parse(JSON.stringify(targetingSchemas)));
  inEach(document, showSchema);
  for (const methods of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(methods as Json)) {
      if (isObject(operation)) markOptionalBody(operation);
    }
  }
  inEach(document, separateTypes);
  return document;
};
