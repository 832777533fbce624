// The browser and the system of a session, in plain words.

/** The first that fits: a browser names those that it is compatible with too. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\/|\bOpera\b/, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\b(?:Headless)?Chrome\/|\bCriOS\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

const firstOf = (known: typeof browsers, agent: string): string | undefined =>
  known.find(([pattern]) => pattern.test(agent))?.[1];

/** From the header User-Agent. */
export const describeAgent = (agent: string | null): string => {
  const browser = firstOf(browsers, agent ?? "");
  const system = firstOf(systems, agent ?? "");
  if (browser === undefined) return system ?? "Unknown browser";
  return system === undefined ? browser : `${browser} on ${system}`;
};

export const describeMethod = (method: string): string => {
  if (method === "password") return "with a password";
  if (method === "link" || method === "invitation") return "with an invitation";
  return method.startsWith("oidc:") ? `with ${method.slice("oidc:".length)}` : "";
};
