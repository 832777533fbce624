// Which of many names a few typed letters mean, the best first; one or two typos are forgiven.

/** A name, taken apart once for all keystrokes. */
export interface Prepared {
  /** In lower case, with one space between the words. */
  readonly text: string;
  readonly words: readonly string[];
  /** One bit for each letter and digit in it. */
  readonly letters: number;
}

const wordsIn = (name: string): readonly string[] =>
  name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== "");

const lettersIn = (text: string): number => {
  let letters = 0;
  // 31 bits: those that share one only cost a closer look.
  for (let at = 0; at < text.length; at += 1) letters |= 1 << (text.charCodeAt(at) % 31);
  return letters;
};

const countBits = (bits: number): number => {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
};

export const prepare = (name: string): Prepared => {
  const words = wordsIn(name);
  const text = words.join(" ");
  return { text, words, letters: lettersIn(text) };
};

/** How well a name fits, the best first. */
export const fits = {
  exact: 0,
  prefix: 1,
  wordStart: 2,
  inside: 3,
  /** Letters are left out: "chkad" for checkout-address. */
  shortened: 4,
  oneTypo: 5,
  twoTypos: 6,
} as const;

type Fit = (typeof fits)[keyof typeof fits];

/** Longer ones are nobody's memory of a name. */
const longestTyped = 63;

const reached = new Uint8Array(longestTyped + 1);

/** Whether what was typed is spread over some of the words in their order, in each from its first letter. */
const isShortened = (typed: string, words: readonly string[]): boolean => {
  reached.fill(0, 0, typed.length + 1);
  reached[0] = 1;
  for (const word of words) {
    // From the end, so that no word is used twice.
    for (let from = typed.length - 1; from >= 0; from -= 1) {
      if (reached[from] === 0 || word[0] !== typed[from]) continue;
      let next = from;
      for (let letter = 0; letter < word.length && next < typed.length; letter += 1) {
        if (word[letter] !== typed[next]) continue;
        next += 1;
        reached[next] = 1;
      }
    }
    if (reached[typed.length] === 1) return true;
  }
  return false;
};

const rows: [Uint8Array, Uint8Array, Uint8Array] = [
  new Uint8Array(longestTyped + 1),
  new Uint8Array(longestTyped + 1),
  new Uint8Array(longestTyped + 1),
];

/** Letters wrong, missing, too many or swapped, against the beginning of the word; more than `most` is any larger number. */
const typosIn = (typed: string, word: string, most: number): number => {
  const length = Math.min(word.length, typed.length + most, longestTyped);
  if (length < typed.length - most) return most + 1;
  let [before, last, row] = rows;
  for (let at = 0; at <= length; at += 1) last[at] = at;
  for (let line = 1; line <= typed.length; line += 1) {
    row[0] = line;
    let least = line;
    for (let at = 1; at <= length; at += 1) {
      const isSame = typed[line - 1] === word[at - 1];
      let cost = Math.min(
        (last[at - 1] ?? 0) + (isSame ? 0 : 1),
        (last[at] ?? 0) + 1,
        (row[at - 1] ?? 0) + 1,
      );
      const isSwapped =
        line > 1 && at > 1 && typed[line - 1] === word[at - 2] && typed[line - 2] === word[at - 1];
      if (isSwapped) cost = Math.min(cost, (before[at - 2] ?? 0) + 1);
      row[at] = cost;
      least = Math.min(least, cost);
    }
    if (least > most) return least;
    [before, last, row] = [last, row, before];
  }
  let fewest = most + 1;
  for (let at = 0; at <= length; at += 1) fewest = Math.min(fewest, last[at] ?? fewest);
  return fewest;
};

/** In a short word a typo makes another word. */
const forgiven = (typed: string): 0 | 1 | 2 => (typed.length < 4 ? 0 : typed.length < 8 ? 1 : 2);

interface TypedWord {
  readonly word: string;
  readonly letters: number;
  /** By the word of a name: names share most of their words. */
  readonly typos: Map<string, number>;
}

const fewestTypos = ({ word, typos }: TypedWord, name: Prepared, most: number): number => {
  let fewest = most + 1;
  for (const each of name.words) {
    let count = typos.get(each);
    if (count === undefined) {
      count = typosIn(word, each, most);
      typos.set(each, count);
    }
    if (count < fewest) fewest = count;
  }
  return fewest;
};

const fitOfWord = (typed: TypedWord, name: Prepared): Fit | undefined => {
  const { word, letters } = typed;
  const missing = letters & ~name.letters;
  if (missing === 0) {
    if (name.words.some((each) => each.startsWith(word))) return fits.wordStart;
    if (name.text.includes(word)) return fits.inside;
    if (isShortened(word, name.words)) return fits.shortened;
  }
  const most = forgiven(word);
  if (most === 0 || countBits(missing) > most) return undefined;
  const fewest = fewestTypos(typed, name, most);
  if (fewest > most) return undefined;
  return fewest === 1 ? fits.oneTypo : fits.twoTypos;
};

/** Gives, for what was typed, how well each name fits; undefined when it does not. */
export const matcher = (typed: string): ((name: Prepared) => Fit | undefined) => {
  const words = wordsIn(typed.slice(0, longestTyped)).map((word) => ({
    word,
    letters: lettersIn(word),
    typos: new Map<string, number>(),
  }));
  const text = words.map(({ word }) => word).join(" ");
  return (name) => {
    if (name.text === text) return fits.exact;
    if (name.text.startsWith(text)) return fits.prefix;
    let worst: Fit = fits.wordStart;
    for (const word of words) {
      const fit = fitOfWord(word, name);
      if (fit === undefined) return undefined;
      if (fit > worst) worst = fit;
    }
    return worst;
  };
};

export interface Named {
  readonly name: Prepared;
}

/** All that fit, the best first; among equals in the order given. */
export const ranked = <Entry extends Named>(typed: string, entries: readonly Entry[]): Entry[] => {
  const fitOf = matcher(typed);
  const byFit: Entry[][] = Object.values(fits).map(() => []);
  for (const entry of entries) {
    const fit = fitOf(entry.name);
    if (fit !== undefined) byFit[fit]?.push(entry);
  }
  return byFit.flat();
};
