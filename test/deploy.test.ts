// The files of deploy/ are sound: they can be read, name settings that exist, and agree with the program and each other.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { workerStopTimeout } from "../packages/server/src/process/cluster-messages.ts";
import { parseConfig } from "../packages/server/src/process/settings/config.ts";
import { startTestServer } from "../packages/server/test/support/server.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

// The parser that the server's OpenAPI plugin brings.
const fromServer = createRequire(join(root, "packages/server/package.json"));
const yaml = createRequire(fromServer.resolve("@fastify/swagger"))("yaml") as {
  parse(text: string, options: { readonly strict: true; readonly logLevel: "error" }): unknown;
};
const readYaml = (path: string): unknown =>
  yaml.parse(read(path), { strict: true, logLevel: "error" });

/** What stands at the path, such as spec.ports.0.name; undefined when there is no such thing. */
const at = (tree: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce((value, name) => (value as Record<string, unknown> | undefined)?.[name], tree);
const listAt = (tree: unknown, path: string): unknown[] => Object.values(at(tree, path) ?? {});
const textsAt = (tree: unknown, path: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(at(tree, path) ?? {}).map(([name, value]) => [name, String(value)]),
  );

/** The lines NAME=value, also those that a comment offers. */
const readVariables = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/^(?:# )?([A-Z][A-Z_]+)=(\S*)$/gm)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]),
  );

const dockerfile = read("deploy/Dockerfile");
const unit = read("deploy/halyard.service");
const compose = readYaml("deploy/compose.yaml");
const deployment = readYaml("deploy/kubernetes/deployment.yaml");
const secret = readYaml("deploy/kubernetes/secret.example.yaml");
const pod = at(deployment, "spec.template.spec");
const container = at(pod, "containers.0");

const imageSettings = Object.fromEntries(
  (/^ENV ((?:.*\\\n)*.*)$/m.exec(dockerfile)?.[1] ?? "")
    .split(/\s*\\\n\s*/)
    .map((entry) => entry.split("=", 2)),
) as Record<string, string>;

/** What the server is started with in each of the ways, apart from what the reader fills in. */
const startedWith: Record<string, Readonly<Record<string, string>>> = {
  Dockerfile: imageSettings,
  "compose.yaml": { ...imageSettings, ...textsAt(compose, "services.halyard.environment") },
  kubernetes: {
    ...imageSettings,
    ...Object.fromEntries(
      listAt(container, "env").map((each) => [String(at(each, "name")), String(at(each, "value"))]),
    ),
    ...textsAt(secret, "stringData"),
  },
  "halyard.service": {
    ...Object.fromEntries(
      (/^Environment=(.*)$/m.exec(unit)?.[1] ?? "").split(" ").map((entry) => entry.split("=", 2)),
    ),
    ...readVariables(read("deploy/halyard.env.example")),
  },
};

const filledIn: Record<string, string> = {
  HALYARD_SECRET_KEY: "0".repeat(64),
  HALYARD_BOOTSTRAP_KEYS: "development=a-key-of-enough-characters",
  HALYARD_METRICS_TOKEN: "a-token-of-enough-characters",
};
/** Read by Node and by the client of PostgreSQL, not by the settings. */
const readByOthers = new Set(["NODE_ENV", "PGPASSWORD"]);

suite("settings", () => {
  const asked = new Set<string>();
  const seen = { get: (_target: object, name: string | symbol) => void asked.add(String(name)) };
  parseConfig(new Proxy<Record<string, string>>({}, seen));

  for (const [where, variables] of Object.entries(startedWith)) {
    test(`${where}: every setting is known and understood`, () => {
      assert.ok(Object.keys(variables).length >= 4, "the settings were not found");
      for (const name of Object.keys(variables)) {
        assert.ok(asked.has(name) || readByOthers.has(name), `${name} is no setting`);
      }
      const config = parseConfig({
        ...variables,
        ...Object.fromEntries(
          Object.entries(filledIn).filter(([name]) => variables[name] !== undefined),
        ),
      });
      assert.deepEqual(config.unknown, []);
      assert.equal(config.port, 4_400);
      if (where !== "Dockerfile") {
        assert.notEqual(config.trustProxy, false, "all clients share the address of the proxy");
        const { callbacks, signInLink, authFailureLimit } = config;
        assert.deepEqual([callbacks.loopback, signInLink, authFailureLimit], [false, false, 60]);
        assert.equal(variables.HALYARD_CALLBACK_LOOPBACK, "off");
        assert.equal(variables.HALYARD_SIGN_IN_LINK, "off");
      }
      const store = variables.DATABASE_URL === undefined ? "embedded" : "postgres";
      assert.equal(config.database.kind, store);
    });
  }

  test("compose.yaml trusts the host of its own network, through which a proxy on this machine comes", () => {
    const network = at(compose, "networks.default.ipam.config.0") as Record<string, string>;
    assert.equal(startedWith["compose.yaml"]?.HALYARD_TRUST_PROXY, network.gateway);
  });

  test("what compose.yaml asks for is what its example names", () => {
    const wanted = [...read("deploy/compose.yaml").matchAll(/\$\{([A-Z_]+)/g)].map(
      ([, name = ""]) => name,
    );
    assert.deepEqual(
      Object.keys(readVariables(read("deploy/compose.env.example"))).toSorted(),
      [...new Set(wanted)].toSorted(),
    );
  });
});

suite("the image", () => {
  test("has the Node that the command needs, and copies what is there", () => {
    const needed = /neededMajor = (\d+)/.exec(read("scripts/packages/halyard.mjs"))?.[1];
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    assert.deepEqual(new Set(bases), new Set([`$\{NODE_IMAGE}`]));
    const [, version = ""] =
      /^ARG NODE_IMAGE=node:([\d.]+)-slim@sha256:[0-9a-f]{64}$/m.exec(dockerfile) ?? [];
    const { devDependencies } = JSON.parse(read("package.json")) as {
      devDependencies: { node: string };
    };
    assert.equal(version, devDependencies.node, "the image has the Node that the tests run on");
    assert.equal(version.split(".")[0], needed);
    const copied = [...dockerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, names = ""]) =>
      names.split(" "),
    );
    assert.ok(copied.length >= 4);
    const kept = read("deploy/Dockerfile.dockerignore").split("\n");
    for (const name of copied) {
      assert.ok(existsSync(join(root, name)), `${name} is not there`);
      assert.ok(kept.includes(`!${name}`), `${name} is kept from the image`);
    }
    assert.match(dockerfile, /^USER 1000:1000$/m);
  });

  test("its health check tells a server that answers from none, and does not ask for the database", async () => {
    const [, text = "[]"] = /^\s*CMD (\["node", "-e".*\])$/m.exec(dockerfile) ?? [];
    assert.match(text, /\/healthz/);
    const [, ...args] = JSON.parse(text) as string[];
    assert.equal(args.length, 2);
    const server = await startTestServer();
    const env = { PORT: new URL(server.url).port };
    const check = () =>
      new Promise<number | null>((resolve) => {
        const child = execFile(process.execPath, args, { env, timeout: 600_000 });
        child.once("exit", (code) => resolve(code));
      });
    assert.equal(await check(), 0);
    await server.close();
    assert.equal(await check(), 1);
  });
});

test("every image of others is named by its digest", () => {
  const images = Object.values(at(compose, "services") ?? {}).map((service) =>
    String(at(service, "image")),
  );
  assert.ok(images.length >= 2);
  for (const image of images) {
    assert.match(image, /^halyard$|^[a-z]+:[\d.]+@sha256:[0-9a-f]{64}$/, image);
  }
});

test("npm run sbom lists what runs in production, with hashes and licences", () => {
  const file = join(mkdtempSync(join(tmpdir(), "halyard-test-sbom-")), "sbom.json");
  const made = spawnSync(process.execPath, [join(root, "scripts/sbom.ts"), file], {
    cwd: root,
    encoding: "utf8",
  });
  assert.equal(made.status, 0, made.stderr);
  const bom = JSON.parse(readFileSync(file, "utf8")) as {
    bomFormat: string;
    metadata: { component: { name: string } };
    components: { purl: string; hashes?: object[]; licenses?: object[] }[];
    dependencies: { ref: string; dependsOn: string[] }[];
  };
  rmSync(dirname(file), { recursive: true });
  assert.deepEqual([bom.bomFormat, bom.metadata.component.name], ["CycloneDX", "halyard"]);
  const purls = bom.components.map(({ purl }) => purl);
  for (const name of ["fastify", "kysely", "pg", "undici", "react", "commander", "yaml"]) {
    assert.ok(
      purls.some((purl) => purl.startsWith(`pkg:npm/${name}@`)),
      name,
    );
  }
  assert.deepEqual(
    purls.filter((purl) => /^pkg:npm\/(typescript|vite|node)@/.test(purl)),
    [],
  );
  const refs = new Set(bom.dependencies.map(({ ref }) => ref));
  assert.equal(refs.size, bom.components.length + 1);
  assert.deepEqual(
    bom.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref)),
    [],
  );
  const others = bom.components.filter(({ purl }) => !purl.startsWith("pkg:npm/%40halyard/"));
  assert.deepEqual(
    others.filter(({ hashes, licenses }) => !hashes || !licenses),
    [],
  );
});

suite("Kubernetes", () => {
  test("every file is listed, and the Secret, which is an example, is not", () => {
    const files = globSync("*.yaml", { cwd: join(root, "deploy/kubernetes") });
    const listed = listAt(readYaml("deploy/kubernetes/kustomization.yaml"), "resources");
    const others = ["kustomization.yaml", "secret.example.yaml"];
    assert.deepEqual([...listed.map(String), ...others].toSorted(), files.toSorted());
  });

  test("what selects the pods selects them", () => {
    const labels = at(deployment, "spec.template.metadata.labels");
    assert.ok(labels);
    const budget = readYaml("deploy/kubernetes/pod-disruption-budget.yaml");
    const service = readYaml("deploy/kubernetes/service.yaml");
    assert.deepEqual(at(deployment, "spec.selector.matchLabels"), labels);
    assert.deepEqual(at(budget, "spec.selector.matchLabels"), labels);
    assert.deepEqual(at(service, "spec.selector"), labels);
    assert.ok(Number(at(budget, "spec.minAvailable")) < Number(at(deployment, "spec.replicas")));
    assert.equal(at(container, "envFrom.0.secretRef.name"), at(secret, "metadata.name"));
  });

  test("has the token without which no other machine may scrape the pods", async (t) => {
    const HALYARD_METRICS_TOKEN = filledIn.HALYARD_METRICS_TOKEN ?? "";
    assert.ok(at(secret, "stringData.HALYARD_METRICS_TOKEN"));
    const server = await startTestServer({ HOST: "0.0.0.0", HALYARD_METRICS_TOKEN });
    t.after(() => server.close());
    const scrape = (token: string) =>
      fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal((await scrape(HALYARD_METRICS_TOKEN)).status, 200);
    assert.equal((await scrape("another-token-of-enough-characters")).status, 401);
  });

  test("ports and probes lead to the server", async (t) => {
    const server = await startTestServer();
    t.after(() => server.close());
    const port = at(container, "ports.0");
    assert.equal(String(at(port, "containerPort")), imageSettings.PORT);
    for (const name of ["startupProbe", "livenessProbe", "readinessProbe"]) {
      const probe = at(container, `${name}.httpGet`);
      assert.equal(at(probe, "port"), at(port, "name"));
      assert.equal((await fetch(`${server.url}${String(at(probe, "path"))}`)).status, 200, name);
    }
  });
});

test("every way gives the server the time that it takes to stop", () => {
  const needed = workerStopTimeout / 1_000;
  assert.ok(needed > 0);
  const given = {
    compose: Number.parseInt(String(at(compose, "services.halyard.stop_grace_period")), 10),
    kubernetes:
      Number(at(pod, "terminationGracePeriodSeconds")) -
      Number(at(container, "lifecycle.preStop.sleep.seconds")),
    systemd: Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]),
  };
  for (const [where, seconds] of Object.entries(given)) {
    assert.ok(seconds > needed + 5, `${where}: ${seconds} s`);
  }
});
