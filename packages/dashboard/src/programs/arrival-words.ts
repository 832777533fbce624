// How far a change has come, in words.
import type { Programs } from "@halyard/sdk/management";
import { formatNumber } from "../format.ts";
import { countOf } from "../plans/plan-words.ts";

const second = 1_000;
const namedAtMost = 3;

/** One that is connected may not have told its name yet. */
export const nameOf = (name: string): string => (name === "" ? "unnamed" : name);

/** "80 ms", "1.2 s". */
export const durationText = (milliseconds: number): string =>
  milliseconds < second
    ? `${formatNumber(Math.round(milliseconds))}\u00a0ms`
    : `${formatNumber(Math.round(milliseconds / 100) / 10)}\u00a0s`;

/** Nobody is there who could lack a change. */
export const hasNobody = ({ clients, clientsLeftOut, told, reached }: Programs): boolean =>
  clients.length + clientsLeftOut + told === 0 && reached.have === reached.of;

interface Reach {
  readonly of: number;
  readonly have: number;
}

/** Halyard's own instances, and the programs that connect to them: `reached` counts both. */
export const reachOf = ({
  instances,
  reached,
}: Programs): { readonly instances: Reach; readonly programs: Reach } => {
  const have = instances.filter(
    ({ state, lag }) => state === "current" || (state === "lost" && lag === 0),
  ).length;
  return {
    instances: { of: instances.length, have },
    programs: { of: reached.of - instances.length, have: reached.have - have },
  };
};

/** "Reached 12 of 43 programs", of an environment when it is not the one that is shown. */
export const reachedText = (list: Programs, environment?: string): string => {
  const { instances, programs } = reachOf(list);
  const { have, of } = programs;
  const own =
    instances.have === instances.of
      ? ""
      : ` and ${formatNumber(instances.have)} of ${countOf(instances.of, "Halyard instance")}`;
  const whose = environment === undefined ? "" : ` of ${environment}`;
  return `Reached ${formatNumber(have)} of ${countOf(of, "program")}${own}${whose}`;
};

/** Once all have it. What reads over OFREP was told of it: what it made of that, it does not tell. */
export const arrivedText = (list: Programs, environment?: string): string => {
  const { clients, clientsLeftOut, told, reached } = list;
  if (clients.length + clientsLeftOut === 0) return `Told ${countOf(told, "reader")}`;
  // Without a time nobody was there when the change was made: all have come since.
  const time = reached.within === null ? "" : ` in ${durationText(reached.within)}`;
  const others = told === 0 ? "" : `; told ${countOf(told, "other reader")}`;
  return reachedText(list, environment) + time + others;
};

/** "web-1, web-2 (lost) and 4 more". */
export const laggingText = ({ instances, clients, reached }: Programs): string => {
  // One may be lost that had it before.
  const lagging = [...instances, ...clients].filter(
    ({ state, lag }) => state === "behind" || (state === "lost" && lag > 0),
  );
  const named = lagging
    .slice(0, namedAtMost)
    .map(({ name, state }) => nameOf(name) + (state === "lost" ? " (lost)" : ""));
  const more = Math.max(reached.of - reached.have, lagging.length) - named.length;
  return `${named.join(", ")}${more > 0 ? ` and ${formatNumber(more)} more` : ""}`;
};
