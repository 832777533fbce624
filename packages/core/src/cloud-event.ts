// The headers that make a webhook request a CloudEvent in binary mode. They repeat values of the body, so they are the same
// for every attempt.

export interface DescribedEvent {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly environment: string;
  readonly data: object;
}

/** The possible subjects of an event: the field of `data`, the collection, and the field with the identifier. */
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

/** Encodes the text as the HTTP binding of CloudEvents requires. */
const headerText = (text: string): string =>
  text.replaceAll(/[^\x21-\x7e]|["%]/gu, (character) => encodeURIComponent(character));

/** `publicUrl` is the address at which users reach the service. Without it, the source is a path. */
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
