// Which passwords are good enough. Long ones are: nobody has to mix signs, or to change it every month.
import { invalid, ok, type Result } from "../../../platform/errors.ts";
import type { User } from "../user.ts";

export const minPasswordLength = 10;
const maxPasswordBytes = 1_000;
/** Digits and signs that people add to a common password. */
const tail = /[\p{N}\p{P}\p{S}]{1,4}$/u;

/** Two ways to type the same characters give the same text. */
export const passwordText = (password: string): string => password.normalize("NFKC");

/** One piece over and over. */
const isRepetition = (text: string): boolean => (text + text).indexOf(text, 1) < text.length;

/** `isCommon` knows what many people use, in small letters. */
export const checkPassword = (
  password: string,
  { name, email }: Pick<User, "name" | "email">,
  isCommon: (text: string) => boolean,
): Result<string> => {
  const text = passwordText(password);
  if (Array.from(text).length < minPasswordLength) {
    return invalid("password", `must be at least ${minPasswordLength} characters long`);
  }
  if (new TextEncoder().encode(text).length > maxPasswordBytes) {
    return invalid("password", `must be at most ${maxPasswordBytes} bytes long`);
  }
  const small = text.toLowerCase();
  const known = [name, email ?? ""].map((own) => passwordText(own).toLowerCase());
  if (known.includes(small)) return invalid("password", "must not be your name or address");
  return isCommon(small) || isCommon(small.replace(tail, "")) || isRepetition(small)
    ? invalid("password", "is one that many people use, so it would be tried first")
    : ok(text);
};
