// Numbers, percentages and times, in English as every text of the page; times in the zone of the browser.
const locale = "en";

const plain = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 });
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
const full = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "long" });
const short = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });

export const formatNumber = (value: number): string => plain.format(value);
export const formatCompact = (value: number): string => compact.format(value);
export const formatPercent = (value: number): string => `${plain.format(value)}%`;
export const formatDate = (time: string | Date): string => short.format(new Date(time));
export const formatFullDate = (time: string | Date): string => full.format(new Date(time));

const second = 1_000;
/** What is nearer than this is "now". */
export const nowWithin = 4.5 * second;
const units = [
  ["year", 365 * 24 * 60 * 60 * second],
  ["month", 30 * 24 * 60 * 60 * second],
  ["day", 24 * 60 * 60 * second],
  ["hour", 60 * 60 * second],
  ["minute", 60 * second],
] as const;

/** "3 hours ago". */
export const formatRelative = (time: string | Date, now: number): string => {
  const distance = new Date(time).getTime() - now;
  for (const [unit, length] of units) {
    if (Math.abs(distance) >= length) return relative.format(Math.round(distance / length), unit);
  }
  const isNow = Math.abs(distance) < nowWithin;
  return relative.format(isNow ? 0 : Math.round(distance / second), "second");
};
