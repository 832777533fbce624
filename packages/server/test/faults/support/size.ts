// How large the fault tests are: small in `npm test`, full with HALYARD_FAULTS=full.

export const full = process.env.HALYARD_FAULTS === "full";

export const sized = <T>(sizes: { readonly small: T; readonly full: T }): T =>
  full ? sizes.full : sizes.small;
