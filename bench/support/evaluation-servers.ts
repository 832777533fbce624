// Other evaluation servers, from programs that you name: each with the same flags, on one core.
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Request } from "./load.ts";
import { type Started, startProgram } from "./processes.ts";

/** How a server is asked for values. */
export interface Protocol {
  readonly one: (flag: string, user: string) => Request;
  readonly all: (user: string) => Request;
  /** The values in a response of either. */
  readonly valuesIn: (body: unknown) => readonly boolean[];
}

export interface EvaluationServer {
  readonly name: string;
  /** The environment variable that names its program. */
  readonly variable: string;
  readonly protocol: Protocol;
  /** The files that it reads, by name. Each flag is on for half of the users. */
  files(keys: readonly string[], folder: string, port: number): Readonly<Record<string, unknown>>;
  args(folder: string, port: number): readonly string[];
  readonly readyPath: string;
}

interface OfrepBody {
  readonly value?: boolean;
  readonly flags?: readonly { readonly value: boolean }[];
}

export const ofrep = (authorization?: string): Protocol => {
  const post = (path: string, targetingKey: string): Request => ({
    method: "POST",
    path: `/ofrep/v1/evaluate/flags${path}`,
    ...(authorization !== undefined && { authorization }),
    body: { context: { targetingKey, plan: "premium", country: "CA" } },
  });
  return {
    one: (flag, user) => post(`/${flag}`, user),
    all: (user) => post("", user),
    valuesIn(body) {
      const { value, flags } = body as OfrepBody;
      return flags ? flags.map((flag) => flag.value) : [value === true];
    },
  };
};

interface UnleashBody {
  readonly enabled?: boolean;
  readonly toggles?: readonly { readonly enabled: boolean }[];
}
const unleashToken = "*:development.bench-0123456789abcdef";
const unleashPost = (path: string, userId: string): Request => ({
  method: "POST",
  path: `/api/frontend${path}`,
  authorization: unleashToken,
  body: { userId, properties: { plan: "premium", country: "CA" } },
});

export const evaluationServers: readonly EvaluationServer[] = [
  {
    name: "GO Feature Flag",
    variable: "GOFF_BIN",
    protocol: ofrep(),
    files: (keys, folder, port) => ({
      "flags.json": Object.fromEntries(
        keys.map((key) => [
          key,
          {
            variations: { on: true, off: false },
            defaultRule: { percentage: { on: 50, off: 50 } },
          },
        ]),
      ),
      // JSON is YAML too.
      "relay.yaml": {
        server: { mode: "http", port },
        fileFormat: "json",
        retrievers: [{ kind: "file", path: join(folder, "flags.json") }],
      },
    }),
    args: (folder) => [`--config=${join(folder, "relay.yaml")}`],
    readyPath: "/health",
  },
  {
    name: "Unleash Edge",
    variable: "UNLEASH_EDGE_BIN",
    protocol: {
      one: (flag, user) => unleashPost(`/features/${flag}`, user),
      all: (user) => unleashPost("/all", user),
      valuesIn(body) {
        const { enabled, toggles } = body as UnleashBody;
        return toggles ? toggles.map((toggle) => toggle.enabled) : [enabled === true];
      },
    },
    files: (keys) => ({
      "features.json": {
        version: 2,
        features: keys.map((name) => ({
          name,
          type: "release",
          enabled: true,
          project: "default",
          stale: false,
          impressionData: false,
          variants: [],
          strategies: [
            {
              name: "flexibleRollout",
              constraints: [],
              parameters: { rollout: "50", stickiness: "userId", groupId: name },
            },
          ],
        })),
      },
    }),
    args: (folder, port) => [
      ...["--interface", "127.0.0.1", "--port", String(port), "offline"],
      ...["--bootstrap-file", join(folder, "features.json")],
      // It does not start without one for other clients.
      ...["--client-tokens", `${unleashToken}-client`, "--frontend-tokens", unleashToken],
    ],
    readyPath: "/internal-backstage/health",
  },
];

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address ? address.port : 0;
};

export const startEvaluationServer = async (
  server: EvaluationServer,
  program: string,
  keys: readonly string[],
  parent: string,
): Promise<Started> => {
  const cwd = join(parent, server.variable);
  mkdirSync(cwd, { recursive: true });
  const port = await freePort();
  for (const [name, content] of Object.entries(server.files(keys, cwd, port))) {
    writeFileSync(join(cwd, name), JSON.stringify(content));
  }
  // One core for Go and for Rust, as Halyard has without workers.
  const env = { GOMAXPROCS: "1", TOKIO_WORKER_THREADS: "1" };
  const url = `http://127.0.0.1:${port}`;
  return startProgram(program, server.args(cwd, port), {
    ...{ cwd, env, url },
    readyPath: server.readyPath,
  });
};
