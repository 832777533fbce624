// How far a change has come, in words.
import { formatNumber } from "../format.ts";
import { countOf } from "../plans/plan-words.ts";
import type { ClientList } from "./answer.ts";

const second = 1_000;
const namedAtMost = 3;

/** One that is connected may not have told its name yet. */
export const nameOf = (name: string): string => (name === "" ? "unnamed" : name);

/** "80 ms", "1.2 s". */
export const durationText = (milliseconds: number): string =>
  milliseconds < second
    ? `${formatNumber(Math.round(milliseconds))}\u00a0ms`
    : `${formatNumber(Math.round(milliseconds / 100) / 10)}\u00a0s`;

/** Of what reads over OFREP it is known that it was told of a change, not what it made of it. */
export const toldText = (told: number): string =>
  `${countOf(told, "OFREP reader")} ${told === 1 ? "was" : "were"} told`;

/** Nobody is there who could lack a change. */
export const hasNobody = ({ clients, clientsLeftOut, told, reached }: ClientList): boolean =>
  clients.length + clientsLeftOut + told === 0 && reached.have === reached.of;

/** "Reached 12 of 43 programs", of an environment when it is not the one that is shown. */
export const reachedText = (list: ClientList, environment?: string): string => {
  const { have, of } = list.reached;
  const whose = environment === undefined ? "" : ` of ${environment}`;
  return `Reached ${formatNumber(have)} of ${countOf(of, "program")}${whose}`;
};

/** Once all have it. */
export const arrivedText = (list: ClientList, environment?: string): string => {
  const { clients, clientsLeftOut, told, reached } = list;
  const isForReaders = clients.length + clientsLeftOut === 0;
  // Nobody was there when the change was made: all have come since.
  const time = reached.within === null ? "" : ` in ${durationText(reached.within)}`;
  const arrived = `${reachedText(list, environment)}${time}`;
  if (told === 0) return arrived;
  return isForReaders ? toldText(told) : `${arrived}; ${toldText(told)}`;
};

/** "web-1, web-2 (lost) and 4 more". */
export const laggingText = ({ instances, clients, reached }: ClientList): string => {
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
