// Code that evaluates a flag, with OpenFeature in several languages and with the Halyard SDK.
import type { ValueType } from "@halyard/core/flags/variant";
import sdk from "@halyard/sdk/package.json" with { type: "json" };

export interface Snippet {
  readonly name: string;
  /** The role that its API key should have. */
  readonly role: "server" | "client";
  /** Shell commands that bring what the code imports; none when it imports nothing. */
  readonly install?: string;
  /** Where its packages are found, when there is no command for that. */
  readonly packages?: string;
  readonly code: string;
}

/** In the code of pages, which have no environment variables. */
export const keyPlaceholder = "<a client key>";

interface SnippetOptions {
  readonly key: string;
  readonly usesTargetingKey: boolean;
  /** What the flag gives, unless that is on or off. */
  readonly valueType?: ValueType;
  /** Of the server. */
  readonly url: string;
}

const fallbacks: Readonly<Record<ValueType, string>> = {
  string: '"fallback"',
  number: "0",
  object: "{}",
};

/** The languages whose code knows values other than booleans. */
const typed = /^(curl|Node|Web)/;

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

export const snippetsFor = ({
  key,
  usesTargetingKey,
  valueType,
  url,
}: SnippetOptions): readonly Snippet[] => {
  const inSdk = (who: string) =>
    valueType === undefined
      ? `if (client.isEnabled("${key}"${who === "{}" ? "" : `, ${who}`})) {
  // on
}`
      : `const value = client.${valueType}Value("${key}", ${who}, ${fallbacks[valueType]});`;
  const inOpenFeature = (client: string, more: string) =>
    valueType === undefined
      ? `if (${client}.getBooleanValue("${key}", false${more})) {
  // on
}`
      : `const value = ${client}.get${capitalized(valueType)}Value("${key}", ${fallbacks[valueType]}${more});`;
  const context = usesTargetingKey ? `, { targetingKey: user.id }` : "";
  // The server serves the package that goes with it.
  const halyardSdk = `${url}/sdk/halyard-sdk-${sdk.version}.tgz`;
  const who = usesTargetingKey ? `{ targetingKey: user.id }` : "{}";
  const snippets: readonly Snippet[] = [
    {
      name: "curl",
      role: "client",
      code: `curl -X POST ${url}/ofrep/v1/evaluate/flags/${key} \\
  -H "Authorization: Bearer $HALYARD_API_KEY" -H "Content-Type: application/json" \\
  -d '{"context":{"targetingKey":"user-7"}}'`,
    },
    {
      name: "Node, Halyard SDK",
      role: "server",
      install: `npm install ${halyardSdk}`,
      code: `import { createClient } from "@halyard/sdk";

const client = createClient({ url: "${url}", key: process.env.HALYARD_API_KEY });
const ready = await client.ready();
if (!ready.ok) console.warn("no flags yet, fallbacks are used:", ready.error.message);

${inSdk(who)}`,
    },
    {
      name: "Node, OpenFeature",
      role: "server",
      install: `npm install @openfeature/server-sdk ${halyardSdk}`,
      code: `import { OpenFeature } from "@openfeature/server-sdk";
import { HalyardProvider } from "@halyard/sdk/openfeature/server";

await OpenFeature.setProviderAndWait(
  new HalyardProvider({ url: "${url}", key: process.env.HALYARD_API_KEY }),
);
const client = OpenFeature.getClient();

${inOpenFeature("await client", context)}`,
    },
    {
      name: "Web, OpenFeature",
      role: "client",
      install: `npm install @openfeature/web-sdk ${halyardSdk}`,
      code: `import { OpenFeature } from "@openfeature/web-sdk";
import { HalyardWebProvider } from "@halyard/sdk/openfeature/web";

await OpenFeature.setContext(${who});
await OpenFeature.setProviderAndWait(
  new HalyardWebProvider({ url: "${url}", key: "${keyPlaceholder}" }),
);

${inOpenFeature("OpenFeature.getClient()", "")}`,
    },
    {
      name: "Web, OFREP",
      role: "client",
      install: "npm install @openfeature/web-sdk @openfeature/ofrep-web-provider",
      code: `import { OpenFeature } from "@openfeature/web-sdk";
import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";

await OpenFeature.setContext(${who});
await OpenFeature.setProviderAndWait(
  new OFREPWebProvider({
    baseUrl: "${url}",
    headers: [["Authorization", "Bearer ${keyPlaceholder}"]],
  }),
);

${inOpenFeature("OpenFeature.getClient()", "")}`,
    },
    {
      name: "Go",
      role: "client",
      install:
        "go get github.com/open-feature/go-sdk github.com/open-feature/go-sdk-contrib/providers/ofrep",
      code: `provider := ofrep.NewProvider("${url}", ofrep.WithBearerToken(os.Getenv("HALYARD_API_KEY")))
if err := openfeature.SetProviderAndWait(provider); err != nil {
	log.Fatal(err)
}
client := openfeature.NewClient("app")

on, err := client.BooleanValue(ctx, "${key}", false, ${
        usesTargetingKey
          ? "openfeature.NewEvaluationContext(user.ID, nil)"
          : "openfeature.EvaluationContext{}"
      })`,
    },
    {
      name: "Python",
      role: "client",
      install: "pip install openfeature-sdk openfeature-provider-ofrep",
      code: `import os
from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
${usesTargetingKey ? "from openfeature.evaluation_context import EvaluationContext\n" : ""}
api.set_provider(OFREPProvider(
    "${url}",
    headers_factory=lambda: {"Authorization": f"Bearer {os.environ['HALYARD_API_KEY']}"},
))
client = api.get_client()

if client.get_boolean_value("${key}", False${
        usesTargetingKey ? ", EvaluationContext(targeting_key=user.id)" : ""
      }):
    ...  # on`,
    },
    {
      name: "Java",
      role: "client",
      packages:
        "The packages are on Maven Central: dev.openfeature:sdk and dev.openfeature.contrib.providers:ofrep.",
      code: `var options = OfrepProviderOptions.builder()
    .baseUrl("${url}")
    .headers(ImmutableMap.of("Authorization", ImmutableList.of("Bearer " + System.getenv("HALYARD_API_KEY"))))
    .build();
OpenFeatureAPI.getInstance().setProviderAndWait(OfrepProvider.constructProvider(options));
var client = OpenFeatureAPI.getInstance().getClient();

boolean on = client.getBooleanValue("${key}", false${
        usesTargetingKey ? ", new ImmutableContext(user.id())" : ""
      });`,
    },
    {
      name: ".NET",
      role: "client",
      packages: "The packages are on NuGet: OpenFeature and OpenFeature.Providers.Ofrep.",
      code: `var options = new OfrepOptions("${url}")
{
    Headers = new Dictionary<string, string> { ["Authorization"] = $"Bearer {Environment.GetEnvironmentVariable("HALYARD_API_KEY")}" },
};
await Api.Instance.SetProviderAsync(new OfrepProvider(options));
var client = Api.Instance.GetClient();

var on = await client.GetBooleanValueAsync("${key}", false${
        usesTargetingKey ? ", EvaluationContext.Builder().SetTargetingKey(user.Id).Build()" : ""
      });`,
    },
  ];
  return valueType === undefined ? snippets : snippets.filter(({ name }) => typed.test(name));
};
