// Signatures verified by other libraries: a small run for `npm test`.
import { testSignatures } from "./support/test-signatures.ts";

testSignatures({ flags: 5, byOpenssl: 6 });
