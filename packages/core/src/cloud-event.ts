// The headers that make a webhook request a CloudEvent in binary mode. They repeat what the body says, so they are the same
// at every attempt.

/** What an event's body has. */
export interface DescribedEvent {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly environment: string;
  readonly data: object;
}

/** What an event can be about: its member in `data`, and the list that it is in. */
const subjects = [
  ["flag", "flags", "key"],
  ["segment", "segments", "key"],
  ["changeRequest", "change-requests", "id"],
  ["webhook", "webhooks", "id"],
] as const;

type Fields = Readonly<Record<string, unknown>>;

const subjectOf = (data: object): string | undefined => {
  for (const [member, list, name] of subjects) {
    const subject = (data as Fields)[member] as Fields | undefined;
    if (subject !== undefined) return `${list}/${String(subject[name])}`;
  }
  return undefined;
};

/** As the HTTP binding of CloudEvents encodes them. */
const headerText = (text: string): string =>
  text.replaceAll(/[^\x21-\x7e]|["%]/gu, (character) => encodeURIComponent(character));

/** `publicUrl` is where people reach the service; without it the source is a path. */
export const cloudEventHeaders = (
  { id, type, createdAt, environment, data }: DescribedEvent,
  publicUrl: string | undefined,
): Record<string, string> => {
  const subject = subjectOf(data);
  return {
    "ce-specversion": "1.0",
    "ce-id": id,
    "ce-source": headerText(`${publicUrl ?? ""}/environments/${environment}`),
    "ce-type": type,
    "ce-time": createdAt,
    ...(subject !== undefined && { "ce-subject": headerText(subject) }),
  };
};
