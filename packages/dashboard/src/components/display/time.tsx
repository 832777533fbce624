// A time such as "3 hours ago", with the full date on hover, updated while the page is open.
import { useSyncExternalStore } from "react";
import { formatFullDate, formatRelative, nowWithin } from "../../format.ts";

const tick = 10_000;
const listeners = new Set<() => void>();
let timer: number | undefined;

/** One timer for all times on the page. */
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  timer ??= window.setInterval(() => {
    for (const each of listeners) each();
  }, tick);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    window.clearInterval(timer);
    timer = undefined;
  };
};

export const Time = ({ at }: { readonly at: string }) => {
  const text = useSyncExternalStore(subscribe, () => formatRelative(at, Date.now()));
  return (
    <time dateTime={at} title={formatFullDate(at)}>
      {text}
    </time>
  );
};

interface UpcomingProps {
  readonly at: string;
  /** What is shown once the time has come, and when it comes so soon that it would be called "now". */
  readonly otherwise: string;
}

/** A time to come: never "50 seconds ago". */
export const Upcoming = ({ at, otherwise }: UpcomingProps) => {
  const isAhead = useSyncExternalStore(subscribe, () => Date.parse(at) - Date.now() >= nowWithin);
  return isAhead ? <Time at={at} /> : otherwise;
};
