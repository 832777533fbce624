// The runtimes that the package is for, each with a program of one flag that a test can ask for its value.
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import react from "@vitejs/plugin-react";
import { chromium } from "playwright-core";
import { rolldown } from "rolldown";
import { type InlineConfig, preview, build as viteBuild } from "vite";
import { runExample, startExample } from "../../../../test/support/example-program.ts";
import { blockTitled } from "../../../../test/support/pages.ts";
import { findBrowser } from "../../../dashboard/test/support/find-browser.ts";
import { freePort } from "./guide.ts";

const run = promisify(execFile);

export interface Settings {
  readonly url: string;
  readonly serverKey: string;
  readonly clientKey: string;
}

/** What a program evaluates now: on or off; undefined before it has the server's flags. */
export type Ask = () => Promise<boolean | undefined>;

export interface Row {
  readonly name: string;
  readonly ask: Ask;
  /** It loads the flags for each request, so the first answer after a change has to be right. */
  readonly perRequest?: true;
}

export interface Runtime {
  readonly name: string;
  /** Installed in addition to the SDK. */
  readonly packages: readonly string[];
  readonly start: (t: TestContext, folder: string, settings: Settings) => Promise<readonly Row[]>;
}

const write = (folder: string, files: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
};

const isOnIn = (text: string): boolean | undefined => {
  if (/the new checkout/i.test(text)) return true;
  return /the old checkout/i.test(text) ? false : undefined;
};

const askOver =
  (url: string): Ask =>
  async () =>
    isOnIn(await (await fetch(url)).text());

/** A server in a process of its own, with the client for programs and the one for edge runtimes. */
const program = ({ url, serverKey }: Settings): string => `
  import { createServer } from "node:http";
  import { createClient } from "@halyard/sdk";
  import { createEdgeClient } from "@halyard/sdk/edge";
  const client = createClient(${JSON.stringify({ url, key: serverKey })});
  const edge = createEdgeClient(${JSON.stringify({ url, key: serverKey })});
  await client.ready();
  const server = createServer(async (request, response) => {
    const flags = request.url === "/edge" ? await edge.load() : client;
    const { errorCode, value } = flags.details("new-checkout", { targetingKey: "user-7" });
    response.end(errorCode ?? (value ? "The new checkout" : "The old checkout"));
  });
  server.listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + server.address().port));
`;

const inProcess = (
  name: string,
  packages: readonly string[],
  command: (modules: string) => readonly [string, ...string[]],
): Runtime => ({
  name,
  packages,
  async start(t, folder, settings) {
    write(folder, { "program.mjs": program(settings) });
    const [path, ...options] = command(join(folder, "node_modules"));
    const { stdout } = await run(path, ["--version"]);
    const started = startExample(t, folder, {}, path, ...options, "program.mjs");
    const [url] = await started.printed(/http:\S+/);
    const version = `${name} (${/[\d.]+/.exec(stdout)?.[0]})`;
    return [
      { name: version, ask: askOver(url) },
      { name: `${version}, edge client`, ask: askOver(`${url}/edge`), perRequest: true },
    ];
  },
});

const platform = `${process.platform}-${process.arch}`;

const node = (major: number): Runtime =>
  inProcess(`Node ${major}`, [`node-${platform}@${major}`], (modules) => [
    join(modules, `node-${platform}/bin/node`),
  ]);

const bun = inProcess("Bun", [`@oven/bun-${platform}@1`], (modules) => [
  join(modules, `@oven/bun-${platform}/bin/bun`),
]);

const deno = inProcess("Deno, only --allow-net", ["deno@2"], (modules) => {
  const [name = ""] = readdirSync(join(modules, "@deno"));
  const path = join(modules, "@deno", name, "deno");
  return [path, "run", "--no-prompt", "--allow-net", "--node-modules-dir=manual"];
});

interface Worker {
  readonly ready: Promise<URL>;
  dispose(): Promise<void>;
}

/** Runs a module in workerd; `printed` has the lines of its console. */
export const startWorker = async (
  t: TestContext,
  folder: string,
  source: string,
  bindings: Readonly<Record<string, string>> = {},
): Promise<{ readonly ask: () => Promise<string>; readonly printed: () => string }> => {
  const input = join(folder, "worker.ts");
  write(folder, { "worker.ts": source });
  const bundle = await rolldown({ input, platform: "neutral", logLevel: "silent" });
  const { output } = await bundle.generate({ format: "esm" });
  const entry = join(folder, "node_modules/miniflare/dist/src/index.js");
  const { Miniflare } = (await import(pathToFileURL(entry).href)) as {
    readonly Miniflare: new (options: object) => Worker;
  };
  let printed = "";
  const worker = new Miniflare({
    modules: true,
    script: output[0].code,
    bindings,
    compatibilityDate: "2026-07-01",
    handleRuntimeStdio(...streams: readonly NodeJS.ReadableStream[]) {
      for (const stream of streams) {
        stream.on("data", (chunk: Buffer) => {
          printed += chunk.toString();
        });
      }
    },
  });
  t.after(() => worker.dispose());
  const url = await worker.ready;
  return { ask: async () => (await fetch(url)).text(), printed: () => printed };
};

const guide = "docs/evaluate/typescript.md";
export const workerd: Runtime = {
  name: "workerd",
  packages: ["miniflare@4"],
  async start(t, folder, { url, serverKey }) {
    const source = blockTitled(guide, "worker.ts");
    const bindings = { HALYARD_URL: url, HALYARD_API_KEY: serverKey };
    const { ask } = await startWorker(t, folder, source, bindings);
    return [
      { name: "workerd, edge client", ask: async () => isOnIn(await ask()), perRequest: true },
    ];
  },
};

/** A page in the browser that is loaded once: what its heading says now. */
const askPage = async (t: TestContext, url: string): Promise<Ask> => {
  const browser = await chromium.launch({ executablePath: findBrowser() ?? "chromium" });
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(url);
  return async () => isOnIn((await page.locator("h1").textContent()) ?? "");
};

const component = (settings: string): string => `
  import { createContextClient } from "@halyard/sdk/browser";
  import { useEffect, useState } from "react";
  export const Checkout = () => {
    const [text, setText] = useState("no flags yet");
    useEffect(() => {
      const client = createContextClient({ ...${settings}, context: { targetingKey: "user-7" } });
      const show = () => setText(client.isEnabled("new-checkout") ? "The new checkout" : "The old checkout");
      client.on("ready", show);
      client.on("change", show);
      return () => void client.close();
    }, []);
    return <h1>{text}</h1>;
  };
`;

const nextFiles = (settings: Settings): Readonly<Record<string, string>> => ({
  "app/layout.jsx": "export default ({ children }) => <html><body>{children}</body></html>;",
  "app/page.jsx": `import { Checkout } from "./checkout"; export default () => <Checkout />;`,
  "app/checkout.jsx": `"use client";${component(JSON.stringify({ url: settings.url, key: settings.clientKey }))}`,
  "app/server/route.js": `
    import { createClient } from "@halyard/sdk";
    export const dynamic = "force-dynamic";
    let client;
    export const GET = async () => {
      client ??= createClient({ url: process.env.HALYARD_URL, key: process.env.HALYARD_API_KEY });
      await client.ready();
      const { errorCode, value } = client.details("new-checkout", { targetingKey: "user-7" });
      return new Response(errorCode ?? (value ? "The new checkout" : "The old checkout"));
    };
  `,
  "app/ordinary/route.js": `
    import { createClient } from "@halyard/sdk";
    export const runtime = "edge";
    createClient({ url: "http://127.0.0.1:9", key: "k" });
    export const GET = () => new Response("loaded");
  `,
  "app/checkout/route.ts": blockTitled(guide, "app/checkout/route.ts"),
  "middleware.ts": blockTitled(guide, "middleware.ts"),
  "app/shop/route.js": `export const GET = () => new Response("The old checkout");`,
  "app/new-shop/route.js": `export const GET = () => new Response("The new checkout");`,
});

const next: Runtime = {
  name: "Next.js",
  packages: [
    "next@16",
    "react@19",
    "react-dom@19",
    "typescript@5",
    "@types/react@19",
    "@types/node",
  ],
  async start(t, folder, settings) {
    write(folder, nextFiles(settings));
    const command = join(folder, "node_modules/.bin/next");
    const environment = {
      HALYARD_URL: settings.url,
      HALYARD_API_KEY: settings.serverKey,
      NEXT_TELEMETRY_DISABLED: "1",
      PORT: String(await freePort()),
    };
    const built = await runExample(t, folder, environment, command, "build");
    if (!/stops timers and connections/.test(built)) throw new Error(`no warning in:\n${built}`);
    const started = startExample(t, folder, environment, command, "start");
    const [url] = await started.printed(/http:\/\/localhost:\d+/);
    await started.printed(/Ready/);
    return [
      { name: "Next.js, server", ask: askOver(`${url}/server`) },
      { name: "Next.js, edge route", ask: askOver(`${url}/checkout`), perRequest: true },
      { name: "Next.js, edge middleware", ask: askOver(`${url}/shop`), perRequest: true },
      { name: "Next.js, browser", ask: await askPage(t, url) },
    ];
  },
};

const vite: Runtime = {
  name: "Vite and React",
  packages: ["react@19", "react-dom@19"],
  async start(t, folder, { url, clientKey }) {
    write(folder, {
      "index.html": `<div id="root"></div><script type="module" src="/main.jsx"></script>`,
      "checkout.jsx": component(JSON.stringify({ url, key: clientKey })),
      "main.jsx": `
        import { createRoot } from "react-dom/client";
        import { Checkout } from "./checkout.jsx";
        createRoot(document.getElementById("root")).render(<Checkout />);
      `,
    });
    const options: InlineConfig = {
      root: folder,
      configFile: false,
      logLevel: "warn",
      plugins: [react()],
    };
    await viteBuild(options);
    const server = await preview({ ...options, preview: { port: 0, host: "127.0.0.1" } });
    t.after(() => server.close());
    const [page = ""] = server.resolvedUrls?.local ?? [];
    return [{ name: "Vite and React in Chromium", ask: await askPage(t, page) }];
  },
};

export const runtimes: readonly Runtime[] = [
  ...[20, 22, 24, 26].map(node),
  bun,
  deno,
  workerd,
  next,
  vite,
];
