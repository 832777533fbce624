// What the name of an environment says about it: the dashboard and the command line must judge alike.

/** Names such as `production`, `prod-eu` and `live`. */
export const isProductionName = (name: string): boolean =>
  /^(prod|production|live)(?![a-z])/i.test(name);
