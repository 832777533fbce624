// Compiles the schemas of routes, and turns mistakes into sentences that name the field and what is allowed.
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { FastifySchemaCompiler, FastifyServerOptions } from "fastify";
import type { Failure, FieldProblem } from "../../errors.ts";
import { shorten } from "./json-body.ts";

const maxProblems = 20;

const options = {
  strict: false,
  verbose: true,
  // The server's own schemas are correct: checking them would take longer than compiling them.
  meta: false,
  validateSchema: false,
  validateFormats: false,
  // 0.001 has no exact binary form; the rules of flags check the value exactly.
  multipleOfPrecision: 6,
} as const;

const firstOfBody = new Ajv(options);
const allOfBody = new Ajv({ ...options, allErrors: true });
// Query parameters arrive as text.
const allOfQuery = new Ajv({ ...options, allErrors: true, coerceTypes: true });

/** The same value with the first elements of each list: finding every mistake in long lists takes too much time. */
const shortenLists = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, maxProblems).map(shortenLists);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, shortenLists(member)]),
  );
};

/** Accepts or rejects a body at its first mistake. Only a rejected body is searched for more. */
const compileBody = (schema: object): ValidateFunction => {
  const first = firstOfBody.compile(schema);
  let all: ValidateFunction | undefined;
  const validate = ((body: unknown) => {
    if (first(body)) return true;
    all ??= allOfBody.compile(schema);
    all(shortenLists(body));
    validate.errors = [...(all.errors ?? []), ...(first.errors ?? [])];
    return false;
  }) as ValidateFunction;
  return validate;
};

/** Compiles when a request needs it: compiling all schemas would slow down every start. */
const compileLater = (compile: () => ValidateFunction): ValidateFunction => {
  let compiled: ValidateFunction | undefined;
  const validate = ((data: unknown) => {
    compiled ??= compile();
    const isValid = compiled(data);
    validate.errors = compiled.errors ?? null;
    return isValid;
  }) as ValidateFunction;
  return validate;
};

const isAlwaysValid = () => true;

/** The schemas of paths and headers are documentation: the routes check those values. */
const compileValidator: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  switch (httpPart) {
    case "body":
      return compileLater(() => compileBody(schema));
    case "querystring":
      return compileLater(() => allOfQuery.compile(schema));
    default:
      return isAlwaysValid;
  }
};

type SchemaController = NonNullable<FastifyServerOptions["schemaController"]>;

/** With these, Fastify doesn't load its own. */
export const schemaController = {
  compilersFactory: {
    buildValidator: () => compileValidator,
    buildSerializer: () => () => JSON.stringify,
  },
} as unknown as SchemaController;

type Annotated = {
  readonly properties?: Readonly<Record<string, { readonly "x-must-be"?: string }>>;
  readonly "x-must-be"?: string;
  readonly "x-refused"?: Readonly<Record<string, string>>;
};

const fieldName = (path: string): string =>
  path
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce(
      (name, part) => (/^\d+$/.test(part) ? `${name}[${part}]` : name ? `${name}.${part}` : part),
      "",
    );

const mustBeObject = "must be a JSON object";

const problemOf = (error: ErrorObject, part: string): FieldProblem => {
  const schema = (error.parentSchema ?? {}) as Annotated;
  const at = fieldName(error.instancePath);
  const inside = (name: string) => (at === "" ? name : `${at}.${name}`);
  if (error.keyword === "additionalProperties") {
    const name = String((error.params as { additionalProperty: string }).additionalProperty);
    const names = Object.keys(schema.properties ?? {});
    const kind = part === "querystring" ? "parameter" : "field";
    const allowed =
      names.length === 0 ? `no ${kind} is allowed here` : `allowed: ${names.join(", ")}`;
    const refused = schema["x-refused"];
    const reason = refused && Object.hasOwn(refused, name) ? refused[name] : undefined;
    return {
      field: inside(shorten(name)),
      message: reason ?? `is not a known ${kind}; ${allowed}`,
    };
  }
  if (error.keyword === "required") {
    const name = String((error.params as { missingProperty: string }).missingProperty);
    const rule = schema.properties?.[name]?.["x-must-be"];
    return { field: inside(name), message: rule ? `is required: ${rule}` : "is required" };
  }
  if (at === "") return { field: part, message: mustBeObject };
  const rule = schema["x-must-be"];
  if (rule) return { field: at, message: `must be ${rule}` };
  const isNoObject = error.keyword === "type" && error.params.type === "object";
  return { field: at, message: isNoObject ? mustBeObject : (error.message ?? "is not valid") };
};

export const validationFailure = (errors: readonly ErrorObject[], part: string): Failure => {
  const problems = new Map<string, FieldProblem>();
  for (const error of errors) {
    const problem = problemOf(error, part);
    if (!problems.has(problem.field)) problems.set(problem.field, problem);
    if (problems.size === maxProblems) break;
  }
  const details = [...problems.values()];
  return {
    code: "VALIDATION_FAILED",
    message: details.map(({ field, message }) => `${field} ${message}.`).join(" "),
    details,
  };
};
