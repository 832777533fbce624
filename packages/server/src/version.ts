// The version of this program, as its package says.
import manifest from "../package.json" with { type: "json" };

export const { version } = manifest;
