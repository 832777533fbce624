// Recognizes production environments by name, for the dashboard and the command line alike.

/** Matches names such as `production`, `prod-eu` and `live`. */
export const isProductionName = (name: string): boolean =>
  /^(prod|production|live)(?![a-z])/i.test(name);
