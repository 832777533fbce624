// Every command with working arguments, and its target if an address is specified.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { Api } from "../../../server/test/support/api.ts";
import { signInAs } from "../../../server/test/support/people.ts";
import type { ScriptedReceiver } from "../../../server/test/support/scripted-receiver.ts";
import type { TestEnvironment, TestServer } from "../../../server/test/support/server.ts";

/** The resources that commands work on, created anew for each command. */
export interface World {
  readonly owner: Api;
  readonly ownerKey: string;
  readonly environment: TestEnvironment;
  name(): string;
  file(text: string): string;
  flag(body?: object): Promise<string>;
  segment(): Promise<string>;
  webhook(): Promise<string>;
  request(): Promise<string>;
  user(): Promise<string>;
  /** A personal key of a user other than the author of requests. */
  readonly reviewerKey: string;
}

export const createWorld = async (
  server: TestServer,
  environment: TestEnvironment,
  receiver: ScriptedReceiver,
): Promise<World> => {
  const { admin } = environment;
  const ownerKey = await environment.newKey("owner");
  const owner = server.api(ownerKey);
  const name = () => `x${randomBytes(6).toString("hex")}`;
  const post = async <T>(path: string, body: object, api = owner): Promise<T> => {
    const answer = await api("POST", path, body);
    assert.equal(answer.status, 201, answer.text);
    return answer.body as T;
  };
  const made = async (path: string, body: object) => (await post<{ id: string }>(path, body)).id;
  const keyed = async (path: string, body: object) => (await post<{ key: string }>(path, body)).key;
  const flag = (body: object = { type: "rollout" }) => keyed("/flags", { key: name(), ...body });
  const person = await signInAs(server, { name: "Ben", roles: { [environment.name]: "editor" } });
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const personal = { name: "cli", role: "editor", expiresAt };
  const { key: reviewerKey } = await post<{ key: string }>(
    "/personal-keys",
    personal,
    person.in(environment.name),
  );
  return {
    owner,
    ownerKey,
    environment,
    reviewerKey,
    name,
    file(text) {
      const path = join(server.folder, `${name()}.json`);
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    },
    flag,
    segment: () => keyed("/segments", { key: name(), include: ["ann"] }),
    webhook: () => made("/webhooks", { url: `${receiver.url}?${name()}`, events: ["*"] }),
    async request() {
      const operation = { kind: "flag", action: "patch", body: { enabled: true } };
      const operations = [{ ...operation, key: await flag() }];
      const { id } = await post<{ id: string }>("/change-requests", { operations }, admin);
      return id;
    },
    user: () => made("/users", { name: name() }),
  };
};

type Arguments = readonly string[];

export interface Case {
  readonly args: (world: World) => Arguments | Promise<Arguments>;
  /** "server": calls the server; "database": works on the database only; otherwise the reason for neither. */
  readonly goes: "server" | "database" | (string & {});
  /** The command changes something and prints the target. */
  readonly changes?: boolean;
  /** Replaces the options that identify the caller. */
  readonly as?: "reviewer" | "author";
  /** Stops the process, if it doesn't exit by itself. */
  readonly runs?: "until its input ends" | "until it is stopped";
  /** Its output with --json is not a single JSON value. */
  readonly noJson?: boolean;
  /** Environment variables of its process. */
  readonly settings?: Readonly<Record<string, string>>;
}

type Args = Case["args"];
const reads = (args: Args, more: Partial<Case> = {}): Case => ({ args, goes: "server", ...more });
const changes = (args: Args, more: Partial<Case> = {}): Case =>
  reads(args, { changes: true, ...more });
const onDatabase = (...args: Arguments): Case => ({ args: () => args, goes: "database" });
const elsewhere = (goes: string, ...args: Arguments): Case => ({ args: () => args, goes });

const rule = { id: "one", when: { attribute: "plan", op: "in", values: ["pro"] }, serve: "on" };
const withRules = { type: "boolean", otherwise: "off", rules: [rule, { ...rule, id: "two" }] };
const ofFlag =
  (...more: Arguments): Args =>
  async (world) => [await world.flag(), ...more];
const ofRules =
  (...more: Arguments): Args =>
  async (world) => [await world.flag(withRules), ...more];
const ofSegment =
  (...more: Arguments): Args =>
  async (world) => [await world.segment(), ...more];
const ofWebhook =
  (...more: Arguments): Args =>
  async (world) => [await world.webhook(), ...more];
const ofRequest =
  (...more: Arguments): Args =>
  async (world) => [await world.request(), ...more];
const ofUser =
  (...more: Arguments): Args =>
  async (world) => [await world.user(), ...more];
const nothing: Args = () => [];
const newName: Args = (world) => [world.name()];
const newEnvironment = async (world: World): Promise<string> => {
  const name = world.name();
  const { status, text } = await world.owner("POST", "/environments", { name });
  assert.equal(status, 201, text);
  return name;
};
const newKey = async (world: World): Promise<string> =>
  (await world.environment.newKey("server")).split("_")[1] ?? "";
const exported = (world: World) =>
  world.file(
    JSON.stringify({
      halyard: 1,
      flags: [{ key: world.name(), type: "boolean", enabled: true, description: null }],
    }),
  );

export const cases: Readonly<Record<string, Case>> = {
  "flags list": reads(nothing),
  "flags get": reads(ofFlag()),
  "flags history": reads(ofFlag()),
  "flags errors": reads(nothing),
  "flags create": changes(newName),
  "flags delete": changes(ofFlag()),
  "flags enable": changes(ofFlag()),
  "flags disable": changes(ofFlag()),
  "flags rollout": changes(ofFlag("5")),
  "flags describe": changes(ofFlag("text")),
  "flags update": changes(ofFlag("--set", "percentage=5")),
  "flags rules list": reads(ofRules()),
  "flags rules add": changes(ofRules("--when", "plan in x", "--serve", "on")),
  "flags rules remove": changes(ofRules("one")),
  "flags rules enable": changes(ofRules("one")),
  "flags rules disable": changes(ofRules("one")),
  "flags rules move": changes(ofRules("one", "--at", "2")),
  "flags split": changes(ofFlag("on=5", "off=95")),
  "flags require": changes(async (world) => [await world.flag(), `${await world.flag()}=on`]),
  "flags bucket": changes(ofFlag("--by", "company")),
  "flags edit": changes(ofFlag(), {
    settings: { VISUAL: "sed -i 's/percentage: 0/percentage: 9/'" },
  }),
  evaluate: reads(ofFlag("--targeting-key", "ann")),
  explain: reads(ofFlag("ann")),
  "segments list": reads(nothing),
  "segments show": reads(ofSegment()),
  "segments create": changes(newName),
  "segments update": changes(ofSegment("--description", "text")),
  "segments add": changes(ofSegment("ben")),
  "segments remove": changes(ofSegment("ann")),
  "segments delete": changes(ofSegment()),
  "segments flags": reads(ofSegment()),
  "segments history": reads(ofSegment()),
  "requests list": reads(nothing),
  "requests show": reads(ofRequest()),
  "requests approve": changes(ofRequest(), { as: "reviewer" }),
  "requests refuse": changes(ofRequest(), { as: "reviewer" }),
  "requests withdraw": changes(ofRequest(), { as: "author" }),
  "requests comment": changes(ofRequest("Why?")),
  "requests rebase": changes(ofRequest(), { as: "author" }),
  "requests bypass": changes(ofRequest("--reason", "now")),
  "flagd check": reads(nothing),
  rollout: reads(async (world) => [await world.flag(), "--sample", world.file("ann\nben\n")]),
  clients: reads(nothing),
  history: reads(nothing),
  "history verify": reads(nothing),
  "history export": reads(nothing, { noJson: true }),
  "history redact": onDatabase("--name", "Ada", "--yes"),
  mcp: reads(nothing, { runs: "until its input ends", noJson: true }),
  "events tail": reads(() => ["--since", "1h", "--count", "1"], { noJson: true }),
  "webhooks list": reads(nothing),
  "webhooks get": reads(ofWebhook()),
  "webhooks create": changes((world) => [`https://192.0.31.1/${world.name()}`]),
  "webhooks update": changes(ofWebhook("--events", "flag.enabled")),
  "webhooks pause": changes(ofWebhook()),
  "webhooks resume": changes(ofWebhook()),
  "webhooks rotate": changes(ofWebhook()),
  "webhooks delete": changes(ofWebhook()),
  "webhooks test": changes(ofWebhook()),
  "webhooks trigger": changes(async (world) => ["flag.enabled", await world.webhook()]),
  "webhooks deliveries": reads(ofWebhook()),
  "webhooks retry": changes(ofWebhook()),
  "webhooks replay": changes(ofWebhook("--from", "1h")),
  "webhooks listen": reads(nothing, { runs: "until it is stopped", noJson: true }),
  "keys list": reads(nothing),
  "keys create": changes((world) => ["--role", "server", "--name", world.name()]),
  "keys revoke": changes(async (world) => [await newKey(world)]),
  "users list": reads(nothing),
  "users invite": changes(newName),
  "users role": changes(async (world) => [
    ...[await world.user(), world.environment.name, "viewer"],
  ]),
  "users link": changes(ofUser()),
  "users link-accounts": changes(async (world) => [await world.user(), await world.user()]),
  "users unlink-account": changes(ofUser()),
  "users reset-second-factor": onDatabase("ada@example.com"),
  "users remove": changes(ofUser()),
  export: reads(nothing, { noJson: true }),
  import: changes((world) => [exported(world)]),
  diff: reads((world) => ["remote", exported(world)]),
  promote: changes(async (world) => ["development", "remote", await world.flag(), "--prune"]),
  types: reads((world) => ["--output", world.file("")]),
  serve: elsewhere("starts the server of the local settings; it connects to none"),
  "environments list": reads(nothing),
  "environments create": changes(newName),
  "environments update": changes(async (world) => [await newEnvironment(world), "--label", "x"]),
  "environments delete": changes(async (world) => [await newEnvironment(world), "--force"]),
  "secrets reencrypt": onDatabase(),
  migrate: onDatabase(),
  copy: elsewhere("names both databases itself", "--from", "./none", "--to", "./other"),
  backup: onDatabase("./backup"),
  "backup verify": elsewhere("reads the backup that it names", "./none"),
  restore: onDatabase("./backup", "--force"),
  open: elsewhere("prints the address of the server, which it need not call"),
  doctor: reads(nothing),
  "profiles set": reads(({ ownerKey }) => ["other", "--key", ownerKey]),
  "profiles list": elsewhere("reads the saved profiles"),
  "profiles show": elsewhere("reads the saved profiles", "remote"),
  "profiles use": elsewhere("changes the saved profiles", "remote"),
  "profiles remove": elsewhere("changes the saved profiles", "other"),
  whoami: reads(nothing),
  completion: elsewhere("prints a script", "bash"),
  suggest: reads(() => ["flag", "x"]),
};

/** Every command with an action. */
export const leavesOf = (command: Command, words: Arguments = []): [string, Command][] =>
  command.commands.flatMap((child): [string, Command][] => {
    const path = [...words, child.name()];
    // A group prints its help and has neither options nor arguments.
    const isGroup =
      child.commands.length > 0 && child.options.length + child.registeredArguments.length === 0;
    return [
      ...(isGroup ? [] : [[path.join(" "), child] as [string, Command]]),
      ...leavesOf(child, path),
    ];
  });
