// Times as the database has them: milliseconds since 1970.

export const dateOf = (time: number | null): Date | null => (time === null ? null : new Date(time));
