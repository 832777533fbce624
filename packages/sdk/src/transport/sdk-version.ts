// The version of this package; a test compares it with package.json, which not every runtime can import.
export const sdkVersion = "0.1.0";
