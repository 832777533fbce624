// When it was: a time, or one of the changes near it.
import { actorText } from "@halyard/core/history/actor-text";
import type { HistoryEntry } from "@halyard/sdk/management";
import { NativeSelect, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../../api.ts";
import { formatNumber } from "../../format.ts";
import { useApi } from "../../session.tsx";

export interface PastChoice {
  /** In the time of the browser's zone; empty when none is given. */
  readonly time: string;
  /** The revision that a change made, once one is chosen. */
  readonly revision: number | undefined;
}

/** What the address asks for, as entries of the history have it. */
export const revisionIn = (parameters: URLSearchParams): number | undefined => {
  const asked = parameters.get("revision") ?? "";
  return /^\d{1,15}$/.test(asked) ? Number(asked) : undefined;
};

export const noPast: PastChoice = { time: "", revision: undefined };

export const isChosen = ({ time, revision }: PastChoice): boolean =>
  revision !== undefined || !Number.isNaN(Date.parse(time));

/** What the API takes. */
export const pastQueryOf = ({ time, revision }: PastChoice) =>
  revision === undefined ? { at: new Date(time).toISOString() } : { revision };

/** Changes on each side of the time. */
const near = 10;

type Change = HistoryEntry & { readonly revision: number };

const isChange = (entry: HistoryEntry): entry is Change => entry.revision !== null;

/** Changes come close together. */
const toTheSecond = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });

const changeText = ({ revision, subject, id, actions, createdAt, actor }: Change): string => {
  const what = actions.map((action) => action.replace(/^.*\./, "")).join(", ");
  return `${subject} ${id} ${what} by ${actorText(actor)}, ${toTheSecond.format(new Date(createdAt))} (revision ${formatNumber(revision)})`;
};

/** Those made up to the time, newest first; without a time the last ones. */
const useChanges = (time: string) => {
  const { management, environment } = useApi();
  const at = Number.isNaN(Date.parse(time)) ? undefined : new Date(time).toISOString();
  return useQuery({
    queryKey: [environment.name, "changes near", at],
    queryFn: async () => {
      const read = async (subject: "flag" | "segment") => {
        const until = at !== undefined && { until: at };
        const result = await management.history({ subject, limit: near, ...until });
        if (!result.ok) throw new ApiError(result.error);
        return result.value.filter(isChange);
      };
      const found = await Promise.all([read("flag"), read("segment")]);
      return found
        .flat()
        .sort((one, other) => other.revision - one.revision)
        .slice(0, near);
    },
  });
};

export const PastFields = ({
  choice,
  onChange,
}: {
  readonly choice: PastChoice;
  readonly onChange: (next: PastChoice) => void;
}) => {
  const { data = [] } = useChanges(choice.time);
  return (
    <>
      <TextInput
        className="try-time"
        type="datetime-local"
        step={1}
        label="Time, in your time zone"
        value={choice.time}
        onChange={(event) => onChange({ time: event.currentTarget.value, revision: undefined })}
      />
      <NativeSelect
        label="Or right after a change"
        description={choice.time === "" ? "The last changes" : "The changes before that time"}
        data={[
          { value: "", label: choice.time === "" ? "Choose a change" : "None: at that time" },
          ...(choice.revision === undefined ||
          data.some(({ revision }) => revision === choice.revision)
            ? []
            : [
                {
                  value: String(choice.revision),
                  label: `Revision ${formatNumber(choice.revision)}`,
                },
              ]),
          ...data.map((change) => ({
            value: String(change.revision),
            label: changeText(change),
          })),
        ]}
        value={choice.revision === undefined ? "" : String(choice.revision)}
        onChange={(event) => {
          const { value } = event.currentTarget;
          onChange({ ...choice, revision: value === "" ? undefined : Number(value) });
        }}
      />
    </>
  );
};
