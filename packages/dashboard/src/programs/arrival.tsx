// After a change made on the page, one quiet line: how many programs have it, and who does not. Loaded with the first change.
import type { Programs } from "@halyard/sdk/management";
import { Anchor } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { environmentShown } from "../addresses.ts";
import { createSessionManagement, type SessionFetch } from "../api.ts";
import { untilVisible, waitToReconnect } from "../page-visibility.ts";
import { arrivedText, hasNobody, laggingText, reachedText } from "./arrival-words.ts";
import "./programs.css";

/** Milliseconds. Most programs have a change within the first pause; who does not is asked about less and less often. */
const firstPause = 150;
const longestPause = 2_000;
const growth = 1.5;
/** Who lacks a change for so long is named. */
const nameAfter = 3_000;
const askFor = 60_000;
const closeAfter = { arrived: 6_000, lagging: 20_000 };

const id = "arrival";
/** One line for all changes: the newest revision counts. */
let last = new AbortController();

interface Line {
  readonly text: ReactNode;
  /** False while it still counts. */
  readonly autoClose: number | false;
  readonly isBusy?: boolean;
}

const say = ({ text, autoClose, isBusy = false }: Line, onClose: () => void): void => {
  const line = {
    id,
    classNames: { root: "arrival" },
    // Announced once it no longer counts, and without interrupting anybody.
    role: "status",
    "aria-busy": isBusy,
    withBorder: false,
    // Below the message of the change itself; when there are many, it is the one that waits.
    priority: -1,
    closeButtonProps: { "aria-label": "Close notification" },
    message: text,
    autoClose,
    onClose,
  };
  notifications.show(line);
  notifications.update(line);
};

interface LaggingProps {
  readonly reached: string;
  readonly list: Programs;
  readonly environment: string;
}

const Lagging = ({ reached, list, environment }: LaggingProps) => (
  <>
    {reached}. Not yet: {laggingText(list)}.{" "}
    <Anchor
      component={Link}
      inherit
      href={`/environments/${environment}/programs`}
      onClick={() => notifications.hide(id)}
    >
      Show programs
    </Anchor>
  </>
);

/** A change request may have been approved for later. */
const isApplied = async (response: Response): Promise<boolean> => {
  if (!new URL(response.url).pathname.includes("/change-requests/")) return true;
  const { state } = (await response.json()) as { readonly state?: string };
  return state === "applied";
};

/** Until every program has it, nobody looks any more, or it takes too long. The response is that to the change. */
export const followArrival = async (
  environment: string,
  fetch: SessionFetch,
  response: Response,
): Promise<void> => {
  if (!(await isApplied(response))) return;
  last.abort();
  const own = new AbortController();
  last = own;
  const { signal } = own;
  const close = () => own.abort();
  const management = createSessionManagement(fetch);
  const shown = environmentShown();
  const elsewhere = environment === shown ? undefined : environment;
  const started = performance.now();
  // A line that is still there is about the change before.
  notifications.update({ id, message: "Reaching programs…", autoClose: false, onClose: close });
  for (let pause = firstPause; ; pause = Math.min(pause * growth, longestPause)) {
    await waitToReconnect(pause, signal);
    await untilVisible(signal);
    if (signal.aborted) return;
    const result = await management.clients({}, { signal });
    if (signal.aborted) return;
    const isOver = performance.now() - started > askFor;
    if (!result.ok || environmentShown() !== shown || hasNobody(result.value)) break;
    const list = result.value;
    if (list.reached.have === list.reached.of) {
      return say({ text: arrivedText(list, elsewhere), autoClose: closeAfter.arrived }, close);
    }
    const reached = reachedText(list, elsewhere);
    const isLate = performance.now() - started > nameAfter;
    say(
      {
        text: isLate ? <Lagging {...{ reached, list, environment }} /> : `${reached}…`,
        isBusy: !isLate,
        autoClose: isOver && closeAfter.lagging,
      },
      close,
    );
    if (isOver) return;
  }
  notifications.hide(id);
};
