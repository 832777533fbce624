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
const showSchemas = (value: unknown): void => {
  if (Array.isArray(value)) value.forEach(showSchemas);
  if (!isObject(value)) return;
  const { "x-schema": shown } = value;
  if (isObject(shown)) {
    delete value["x-schema"];
    Object.assign(value, shown, value);
  }
  Object.values(value).forEach(showSchemas);
};

/** A document of its own: what several places of the given one share would become aliases in YAML. */
export const completeDocument = <T extends { readonly paths?: object }>(given: T): T => {
  const document = JSON.parse(JSON.stringify(given)) as T;
  const { components } = document as { components?: { schemas?: object } };
  Object.assign(components?.schemas ?? {}, JSON.parse(JSON.stringify(targetingSchemas)));
  showSchemas(document);
  for (const methods of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(methods as Json)) {
      if (isObject(operation)) markOptionalBody(operation);
    }
  }
  return document;
};
