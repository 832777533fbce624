// Times in RFC 3339 format with a zone.

const pattern =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

const daysIn = (year: number, month: number): number => {
  const last = new Date(0);
  last.setUTCFullYear(year, month, 0);
  return last.getUTCDate();
};

/** Milliseconds since 1970, without finer digits; undefined if the text is not a valid time. Leap seconds are not valid. */
export const parseMoment = (text: string): number | undefined => {
  const parts = pattern.exec(text);
  if (parts === null) return undefined;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [zoneHours, zoneMinutes] = [Number(parts[9] ?? 0), Number(parts[10] ?? 0)];
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59 || zoneHours > 23 || zoneMinutes > 59) {
    return undefined;
  }
  const moment = new Date(0);
  // Date.UTC maps the years 0 to 99 to the 20th century.
  moment.setUTCFullYear(year, month - 1, day);
  moment.setUTCHours(hour, minute, second, Number((parts[7] ?? "").slice(0, 3).padEnd(3, "0")));
  const zone = (zoneHours * 60 + zoneMinutes) * 60_000;
  return moment.getTime() - (parts[8] === "-" ? -zone : zone);
};
