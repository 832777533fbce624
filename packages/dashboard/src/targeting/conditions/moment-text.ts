// A moment as RFC 3339 writes it, as a date with a time and a zone.

export interface MomentParts {
  /** As an input of type datetime-local has it. */
  readonly local: string;
  /** `Z`, or such as `+02:00`. */
  readonly zone: string;
}

const pattern =
  /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)([Zz]|[+-]\d{2}:\d{2})$/;

/** Undefined when the text is something else, which is then edited as text. */
export const partsOfMoment = (text: string): MomentParts | undefined => {
  const [, date, time, zone] = pattern.exec(text) ?? [];
  if (date === undefined || time === undefined || zone === undefined) return undefined;
  return { local: `${date}T${time}`, zone: zone.toUpperCase() };
};

/** Browsers leave out seconds that are zero. */
export const momentOf = ({ local, zone }: MomentParts): string =>
  `${/T\d{2}:\d{2}$/.test(local) ? `${local}:00` : local}${zone}`;

/** The zone of the browser at that date, such as `+01:00`. */
export const zoneAt = (local: string): string => {
  const date = local === "" ? new Date() : new Date(local);
  const minutes = Number.isNaN(date.getTime()) ? 0 : -date.getTimezoneOffset();
  if (minutes === 0) return "Z";
  const two = (value: number) => String(Math.trunc(value)).padStart(2, "0");
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(size / 60)}:${two(size % 60)}`;
};
