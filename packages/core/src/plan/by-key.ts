// The order of flags and segments in files, plans and the dashboard.

export const byKey = (a: { readonly key: string }, b: { readonly key: string }): number =>
  a.key < b.key ? -1 : Number(a.key > b.key);
