// The examples that load packages from registries: React and Next.js in a real browser, Python, Go and Java, each against a server.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, type TestContext, test } from "node:test";
import { chromium, type Page, type Route } from "playwright-core";
import { findBrowser } from "../packages/dashboard/test/support/find-browser.ts";
import { createManagement } from "../packages/sdk/src/management.ts";
import { freePort, missing } from "../packages/sdk/test/support/guide.ts";
import { startTestServer, type TestServer } from "../packages/server/test/support/server.ts";
import { until } from "../packages/server/test/support/until.ts";
import { copyExample, runExample, startExample } from "./support/example-program.ts";

/** Runs in the page. */
const keepHeadings = `
  globalThis.shown = [];
  new MutationObserver(() => {
    const text = document.querySelector("h1")?.textContent;
    if (text && shown.at(-1) !== text) shown.push(text);
  }).observe(document, { childList: true, characterData: true, subtree: true });
`;

type Command = readonly [string, ...string[]];

suite("examples with packages of registries", () => {
  let server: TestServer;
  let flagdPort: number;
  before(async () => {
    flagdPort = await freePort();
    server = await startTestServer({ HALYARD_FLAGD_PORT: String(flagdPort) });
  });
  after(() => server.close());

  /** An environment with the flag, off, and what a program is told of it. */
  const newEnvironment = async () => {
    const { keys } = await server.environment();
    const { flags } = createManagement({ url: server.url, key: keys.admin });
    await flags.create({ key: "new-checkout", type: "boolean" });
    const set = async (enabled: boolean) => {
      assert.ok((await flags.update("new-checkout", { enabled })).ok);
    };
    const settings = (role: keyof typeof keys) => ({
      HALYARD_URL: server.url,
      HALYARD_API_KEY: keys[role],
      HALYARD_FLAGD_PORT: String(flagdPort),
    });
    /** From now on, the flag is on for this plan only. */
    const onlyFor = async (plan: string) => {
      const when = { attribute: "plan", op: "in", values: [plan] } as const;
      const rules = [{ when, serve: "on" }];
      assert.ok((await flags.update("new-checkout", { rules, otherwise: "off" })).ok);
    };
    return { keys, set, onlyFor, settings };
  };

  /** A copy in which these have run; undefined, and the test skipped, where the packages cannot be had. */
  const install = async (t: TestContext, name: string, ...commands: readonly Command[]) => {
    const folder = copyExample(t, name);
    try {
      for (const command of commands) await runExample(t, folder, {}, "nice", ...command);
      return folder;
    } catch (error) {
      assert.doesNotMatch(String(error), /COMPILATION ERROR/);
      t.skip(`the packages cannot be had here: ${String(error).split("\n", 3).join(" ")}`);
      return undefined;
    }
  };

  /** The same with npm: the SDK comes from the server, as it does for readers. */
  const installWithNpm = async (t: TestContext, name: string) => {
    const folder = await install(t, name);
    if (folder === undefined) return undefined;
    const file = join(folder, "package.json");
    const text = readFileSync(file, "utf8").replace("http://127.0.0.1:4400", server.url);
    writeFileSync(file, text);
    const npm = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"];
    await runExample(t, folder, {}, "nice", ...npm);
    return folder;
  };

  /** Opens the page and keeps every heading that it has ever shown, in their order. */
  const openPage = async (
    t: TestContext,
    url: string,
    prepare: (page: Page) => Promise<unknown> = async () => {},
  ) => {
    const browser = await chromium.launch({ executablePath: findBrowser() ?? "chromium" });
    t.after(() => browser.close());
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (said) => said.type() === "error" && problems.push(said.text()));
    await page.addInitScript(keepHeadings);
    await prepare(page);
    await page.goto(url);
    return {
      problems,
      heading: (text: string) => page.getByRole("heading", { name: text }).waitFor(),
      shown: () => page.evaluate<string[]>("shown"),
      /** React has shown by then what it was given before. */
      painted: () => page.evaluate("new Promise((done) => requestIdleCallback(done))"),
    };
  };

  test("React: no flash of the old, and a change without a reload", async (t) => {
    const folder = await installWithNpm(t, "react");
    if (folder === undefined) return;
    const { keys, set } = await newEnvironment();
    await set(true);
    const settings = { VITE_HALYARD_URL: server.url, VITE_HALYARD_KEY: keys.client };
    await runExample(t, folder, settings, "nice", "npm", "run", "build");
    const preview = startExample(t, folder, { NO_COLOR: "1" }, "npx", "vite", "preview");
    const [url] = await preview.printed(/http:\/\/\S+/);
    const page = await openPage(t, url);
    await page.heading("The new checkout");
    assert.deepEqual(await page.shown(), ["The new checkout"]);
    await set(false);
    await page.heading("The old checkout");
    assert.deepEqual(await page.shown(), ["The new checkout", "The old checkout"]);
  });

  test("Next.js: the first paint is right, hydration keeps it, and the browser follows changes", async (t) => {
    const folder = await installWithNpm(t, "nextjs");
    if (folder === undefined) return;
    const { keys, set, onlyFor, settings } = await newEnvironment();
    await set(true);
    // The plan of the example's user: the browser has to evaluate for the same context as the server.
    await onlyFor("pro");
    const all = {
      ...settings("server"),
      HALYARD_CLIENT_KEY: keys.client,
      NEXT_TELEMETRY_DISABLED: "1",
      PORT: String(await freePort()),
    };
    await runExample(t, folder, all, "nice", "npm", "run", "build");
    const started = startExample(t, folder, all, "npm", "start");
    const [url] = await started.printed(/http:\/\/localhost:\d+/);
    await started.printed(/Ready/);
    const rendered = async (heading: string) => {
      const html = await (await fetch(url)).text();
      return html.includes(`<h1>${heading}</h1>`) && html;
    };
    // On a busy machine the first pages may have the fallbacks.
    const html = await until("the new checkout", () => rendered("The new checkout"));
    assert.ok(!html.includes(keys.server), "the server's key is for the server only");
    // The page's own request waits until hydration is over: its effect has sent it.
    const requests: Route[] = [];
    const streams: Route[] = [];
    const page = await openPage(t, url, async (opened) => {
      await opened.route("**/ofrep/v1/evaluate/**", (route) => void requests.push(route));
      await opened.route("**/ofrep/v1/events**", (route) => void streams.push(route));
    });
    const release = (held: Route[]) => Promise.all(held.splice(0).map((route) => route.continue()));
    await until("the request of the hydrated page", () => requests.length > 0);
    assert.deepEqual(await page.shown(), ["The new checkout"], "before the server answers");
    // The page opens its stream when it has the values that the server answered with.
    await until("the request of the stream", async () => {
      await release(requests);
      return streams.length > 0;
    });
    await page.painted();
    assert.deepEqual(await page.shown(), ["The new checkout"], "after the server's answer");
    await set(false);
    await until("the old checkout in the page", async () => {
      await Promise.all([release(streams), release(requests)]);
      return (await page.shown()).at(-1) === "The old checkout";
    });
    assert.deepEqual(await page.shown(), ["The new checkout", "The old checkout"]);
    assert.deepEqual(page.problems, [], "React reports what hydration had to change");
    await until("the old checkout", () => rendered("The old checkout"));
  });

  const python = "venv/bin/python";
  const maven = ["mvn", "-q", "-B"] as const;
  const languages: readonly {
    readonly name: string;
    readonly needs: false | string;
    readonly installed: readonly Command[];
    readonly remote: Command;
    readonly inProcess: Command;
  }[] = [
    {
      name: "python",
      needs: missing("python3", "--version"),
      installed: [
        ["python3", "-m", "venv", "venv"],
        [python, "-m", "pip", "install", "-q", "-r", "requirements.txt"],
      ],
      remote: [python, "checkout.py"],
      inProcess: [python, "checkout_in_process.py"],
    },
    {
      name: "go",
      needs: missing("go", "version"),
      installed: [["go", "build", "-o", "bin/", "./..."]],
      remote: ["bin/ofrep"],
      inProcess: ["bin/inprocess"],
    },
    {
      name: "java",
      needs: missing("mvn", "--version"),
      installed: [[...maven, "compile"]],
      remote: [...maven, "exec:java", "-Dexec.mainClass=Checkout"],
      inProcess: [...maven, "exec:java", "-Dexec.mainClass=CheckoutInProcess"],
    },
  ];
  for (const { name, needs, installed, remote, inProcess } of languages) {
    test(name, { skip: needs }, async (t) => {
      const folder = await install(t, name, ...installed);
      if (folder === undefined) return;
      const { set, settings } = await newEnvironment();
      await t.test("remote evaluation", async () => {
        for (const enabled of [false, true]) {
          await set(enabled);
          const output = await runExample(t, folder, settings("client"), ...remote);
          assert.match(output, enabled ? /the new checkout$/m : /the old checkout$/m);
        }
      });
      await t.test("in the program's memory", async (inner) => {
        const program = startExample(inner, folder, settings("server"), ...inProcess);
        await program.printed(/the new checkout$/m);
        await set(false);
        await program.printed(/the old checkout$/m);
      });
    });
  }
});
