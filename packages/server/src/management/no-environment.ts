// The environment was deleted after the request was authenticated: its key is no longer valid.
import { fail } from "../errors.ts";

export const noEnvironment = fail({
  code: "UNAUTHORIZED",
  message: "The environment of this API key does not exist any more.",
});
