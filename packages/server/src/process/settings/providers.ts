// The file of OpenID Connect providers -> ProviderSettings; every mistake names its place in the file.
import { readFileSync } from "node:fs";
import { environmentNamePattern } from "../../features/environments/rules.ts";
import type { GroupGrant, ProviderSettings } from "../../features/people/sign-in/provider.ts";
import { type PersonRole, personRoles } from "../../platform/auth/principal.ts";
import { isLoopbackHost } from "./loopback.ts";

export const providersSetting = "HALYARD_OIDC_FILE";

const maxProviders = 20;

type Members = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "" && value.length <= 4_096;

const known = new Set([
  ...["id", "name", "issuer", "clientId", "clientSecret"],
  ...["clientAuthentication", "scopes", "groupsClaim", "groups"],
  ...["authTime", "requiredClaims"],
]);

/** As the provider writes it: without a query, over TLS unless it is on this machine. */
const isIssuer = (text: string): boolean => {
  const url = URL.parse(text);
  if (!url || url.search + url.hash + url.username + url.password !== "") return false;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(host));
};

/** Says what is wrong with a value at a place of the file. */
type Complain = (place: string, problem: string) => void;

const readGrant = (grant: unknown, place: string, complain: Complain): GroupGrant => {
  if (!isObject(grant)) {
    complain(place, 'must be an object such as { "roles": { "production": "viewer" } }');
    return {};
  }
  const { owner, roles = {}, ...others } = grant;
  for (const name of Object.keys(others)) complain(`${place}.${name}`, "is not known");
  if (owner !== undefined && owner !== true) complain(`${place}.owner`, "must be true or left out");
  if (!isObject(roles)) complain(`${place}.roles`, "must be an object of environments and roles");
  const read: Record<string, PersonRole> = {};
  for (const [environment, role] of Object.entries(isObject(roles) ? roles : {})) {
    const at = `${place}.roles.${environment}`;
    const personRole = personRoles.find((each) => each === role);
    if (!new RegExp(environmentNamePattern).test(environment)) {
      complain(at, "is not the name of an environment");
    } else if (personRole) read[environment] = personRole;
    else complain(at, `must be one of ${personRoles.join(", ")}`);
  }
  return { ...(owner === true && { owner }), roles: read };
};

const readProvider = (entry: unknown, place: string, complain: Complain): ProviderSettings => {
  const members = isObject(entry) ? entry : {};
  if (!isObject(entry)) complain(place, "must be an object");
  for (const name of Object.keys(members)) {
    if (!known.has(name)) complain(`${place}.${name}`, "is not known");
  }
  const text = (name: string, rule: string, fits: (text: string) => boolean = () => true) => {
    const value = members[name];
    if (isText(value) && fits(value)) return value;
    if (isObject(entry)) complain(`${place}.${name}`, `must be ${rule}`);
    return "";
  };
  const optional = (name: string, rule: string): string | undefined =>
    members[name] === undefined ? undefined : text(name, rule);
  /** The first one when it is left out. */
  const choice = <T extends string>(name: string, choices: readonly [T, T]): T => {
    const [standard, other] = choices;
    if (members[name] !== undefined && !choices.some((each) => each === members[name])) {
      complain(`${place}.${name}`, `must be "${standard}" or "${other}"`);
    }
    return members[name] === other ? other : standard;
  };
  const object = (name: string, rule: string): Members => {
    const value = members[name] ?? {};
    if (isObject(value)) return value;
    complain(`${place}.${name}`, `must be ${rule}`);
    return {};
  };
  const texts = (value: unknown, at: string): readonly string[] => {
    const list = Array.isArray(value) ? value : [value];
    if (list.length > 0 && list.every(isText)) return list;
    complain(at, "must be a text or a list of texts");
    return [];
  };

  const scopes = texts(members.scopes ?? ["openid", "profile", "email"], `${place}.scopes`);
  if (scopes.length > 0 && !scopes.includes("openid")) {
    complain(`${place}.scopes`, 'must contain "openid"');
  }
  return {
    id: text("id", "1 to 40 small letters, digits or hyphens: it is part of addresses", (id) =>
      /^[a-z0-9][a-z0-9-]{0,39}$/.test(id),
    ),
    name: text("name", "the name that people see"),
    issuer: text(
      "issuer",
      "the https address of the provider, as the provider writes it; http only on this machine",
      isIssuer,
    ),
    clientId: text("clientId", "the id that the provider has given to Halyard"),
    clientSecret: optional("clientSecret", "the secret that the provider has given to Halyard"),
    clientAuthentication: choice("clientAuthentication", ["post", "basic"]),
    scopes,
    groupsClaim: optional("groupsClaim", "the name of a claim") ?? "groups",
    groups: Object.fromEntries(
      Object.entries(object("groups", "an object of groups")).map(([group, grant]) => [
        group,
        readGrant(grant, `${place}.groups.${group}`, complain),
      ]),
    ),
    authTime: choice("authTime", ["required", "assumed"]),
    requiredClaims: Object.fromEntries(
      Object.entries(object("requiredClaims", "an object of claims and their values")).map(
        ([claim, value]) => [claim, texts(value, `${place}.requiredClaims.${claim}`)],
      ),
    ),
  };
};

const contentOf = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

/** Those of the file that the setting names, with its mistakes added to the others. */
export const readProviders = (
  variables: Readonly<Record<string, string | undefined>>,
  publicUrl: string | undefined,
  mistakes: string[],
): readonly ProviderSettings[] => {
  const path = variables[providersSetting]?.trim() ?? "";
  if (path === "") return [];
  let content: unknown;
  try {
    content = contentOf(path);
  } catch (error) {
    // Messages of the JSON parser quote what they read, and secrets are in it.
    const problem =
      error instanceof SyntaxError ? "it is not JSON" : error instanceof Error && error.message;
    mistakes.push(`${providersSetting} names a file that cannot be read: ${problem}.`);
    return [];
  }
  const complain: Complain = (place, problem) =>
    mistakes.push(`${providersSetting}: ${place} ${problem}.`);
  if (!Array.isArray(content) || content.length === 0 || content.length > maxProviders) {
    complain("the file", `must hold a list of 1 to ${maxProviders} providers`);
    return [];
  }
  if (publicUrl === undefined) {
    mistakes.push(
      `HALYARD_PUBLIC_URL must be set together with ${providersSetting}: providers send people back to that address.`,
    );
  }
  const providers = content.map((entry, index) => readProvider(entry, `[${index}]`, complain));
  for (const member of ["id", "issuer"] as const) {
    const all = providers.map((provider) => provider[member]).filter((value) => value !== "");
    // Two clients of one issuer would be one and the same person with two sets of groups.
    const twice = all.find((value, index) => all.indexOf(value) !== index);
    if (twice !== undefined) complain(`the ${member} ${twice}`, "is there twice");
  }
  return providers;
};
