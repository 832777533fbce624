// Route schemas -> validators, and what they find -> sentences that name the field and what would be right.
import type { Ajv, ErrorObject, Options, ValidateFunction } from "ajv";
import type { FastifySchemaCompiler, FastifyServerOptions } from "fastify";
import type { Failure, FieldProblem } from "../../errors.ts";
import { shorten } from "./json-body.ts";

const maxProblems = 20;
/** A field can break several rules, and is told once. */
const maxErrors = 3 * maxProblems;

const options = {
  strict: false,
  verbose: true,
  // The schemas are our own: to check them would take longer than to compile them.
  meta: false,
  validateSchema: false,
  validateFormats: false,
  // 0.001 has no exact binary form; the domain looks at the value exactly.
  multipleOfPrecision: 6,
} as const;

/** Ajv knows the first mistake or all of them: of a large body all cost far more than what it asks for. */
const stopEarly = (code: string): string => {
  const [, name] = /return function (\w+)\(/.exec(code) ?? [];
  const stop = `if(errors>=${maxErrors}){${name}.errors=vErrors;return false;}`;
  return code.replaceAll(/errors\+\+;|errors = vErrors\.length;/g, `$&${stop}`);
};

type CheckedPart = "body" | "querystring";
interface Validators {
  readonly quick: Ajv;
  /** For what is not valid: tells the first mistakes. */
  readonly thorough: Ajv;
}
let validators: Readonly<Record<CheckedPart, Validators>> | undefined;

/** Ajv is loaded by the first request that has something to check: a server that only evaluates has none. */
const loadValidators = async (): Promise<void> => {
  const { Ajv } = await import("ajv").catch((error: Error) => {
    // Or Fastify would take it for a mistake in the request.
    throw Object.assign(error, { statusCode: 500 });
  });
  const validatorsWith = (more: Options): Validators => ({
    quick: new Ajv({ ...options, ...more }),
    thorough: new Ajv({ ...options, ...more, allErrors: true, code: { process: stopEarly } }),
  });
  validators ??= {
    body: validatorsWith({}),
    // Query parameters arrive as text.
    querystring: validatorsWith({ coerceTypes: true }),
  };
};

const isAlwaysValid = () => true;

/** Compiled when first needed: compiling all of them would make every start slower. */
const compileLater = (part: CheckedPart, schema: object): ValidateFunction => {
  let isValid: ValidateFunction | undefined;
  let explain: ValidateFunction | undefined;
  const validate = ((data: unknown) => {
    if (!validators) {
      return loadValidators().then(() => {
        // Thrown, as Fastify looks for what was found only after others may have been checked.
        if (!validate(data)) throw Object.assign(new Error(), { validation: validate.errors });
      });
    }
    const { quick, thorough } = validators[part];
    isValid ??= quick.compile(schema);
    if (isValid(data)) return true;
    explain ??= thorough.compile(schema);
    explain(data);
    validate.errors = explain.errors ?? isValid.errors ?? null;
    return false;
  }) as ValidateFunction;
  return validate;
};

/** The schemas of paths and headers only describe: those who read them look at them themselves. */
const compileValidator: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  switch (httpPart) {
    case "body":
    case "querystring":
      return compileLater(httpPart, schema);
    default:
      return isAlwaysValid;
  }
};

type SchemaController = NonNullable<FastifyServerOptions["schemaController"]>;

/** With these given, Fastify does not load its own. */
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
