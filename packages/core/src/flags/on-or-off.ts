// The variants of boolean and rollout flags.

export const onOrOff = { variants: { on: true, off: false }, off: "off" } as const;

export const isOnOrOff = (value: unknown): value is "on" | "off" =>
  value === "on" || value === "off";
