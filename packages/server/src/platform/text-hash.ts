// SHA-256 of a text. It depends on the text alone, so the domain may use it.
import { hash } from "node:crypto";

export const sha256 = (text: string): string => hash("sha256", text, "hex");
