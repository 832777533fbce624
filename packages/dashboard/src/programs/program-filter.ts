// Which programs the page lists: those that lack the newest change first.

import type { Programs, ServerInstance } from "@halyard/sdk/management";
import { nameOf } from "./arrival-words.ts";

export type ProgramState = ServerInstance["state"];

export interface Program {
  readonly id: string;
  readonly name: string;
  /** What it is, such as "js/0.1.0". */
  readonly version: string;
  /** How it is connected, such as "stream from halyard-1"; empty for an instance. */
  readonly connection: string;
  readonly revision: number;
  readonly state: ProgramState;
  readonly lag: number;
  readonly seenAt: string;
}

export interface ProgramFilter {
  readonly text: string;
  readonly state: ProgramState | "all";
}

export const programStates: readonly ProgramState[] = ["current", "behind", "lost"];

export const stateFrom = (name: string | null): ProgramFilter["state"] =>
  programStates.find((state) => state === name) ?? "all";

export const programFilterFrom = (parameters: URLSearchParams): ProgramFilter => ({
  text: parameters.get("q") ?? "",
  state: stateFrom(parameters.get("state")),
});

export const parametersOf = ({ text, state }: ProgramFilter): URLSearchParams =>
  new URLSearchParams([
    ...(text === "" ? [] : [["q", text]]),
    ...(state === "all" ? [] : [["state", state]]),
  ]);

export const instancesOf = ({ instances }: Programs): readonly Program[] =>
  instances.map(({ version, ...instance }) => ({
    ...instance,
    version: `Halyard ${version}`,
    connection: "",
  }));

export const clientsOf = ({ clients }: Programs): readonly Program[] =>
  clients.map(({ sdk, connection, instance, ...client }) => ({
    ...client,
    name: nameOf(client.name),
    version: sdk,
    connection: connection === "stream" ? `stream from ${instance}` : `polls ${instance}`,
  }));

const urgency: Readonly<Record<ProgramState, number>> = { lost: 0, behind: 1, current: 2 };

const inOrder = (one: Program, other: Program): number =>
  urgency[one.state] - urgency[other.state] ||
  (one.name === other.name ? (one.id < other.id ? -1 : 1) : one.name < other.name ? -1 : 1);

/** Every word is somewhere in the name, the version or the connection, in any order. */
export const shownPrograms = (
  programs: readonly Program[],
  { text, state }: ProgramFilter,
): readonly Program[] => {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return programs
    .filter((program) => {
      if (state !== "all" && program.state !== state) return false;
      const searched = `${program.name} ${program.version} ${program.connection}`.toLowerCase();
      return words.every((word) => searched.includes(word));
    })
    .sort(inOrder);
};

export const countStates = (
  programs: readonly Program[],
): Readonly<Record<ProgramState, number>> => {
  const counts = { current: 0, behind: 0, lost: 0 };
  for (const { state } of programs) counts[state] += 1;
  return counts;
};
