// What was chosen in the palette last, for each environment; forgotten with the tab and when the user signs out.
const most = 8;
const keyOf = (environment: string): string => `halyard-recent ${environment}`;

/** The last first. */
export const recentOf = (environment: string): readonly string[] =>
  (sessionStorage.getItem(keyOf(environment)) ?? "").split("\n").filter((id) => id !== "");

export const remember = (environment: string, id: string): void => {
  const others = recentOf(environment).filter((each) => each !== id);
  sessionStorage.setItem(keyOf(environment), [id, ...others].slice(0, most).join("\n"));
};
