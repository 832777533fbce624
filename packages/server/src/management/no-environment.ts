// The environment was deleted after the request's key was looked at: its key is worth nothing any more.
import { fail } from "../errors.ts";

export const noEnvironment = fail({
  code: "UNAUTHORIZED",
  message: "The environment of this API key does not exist any more.",
});
