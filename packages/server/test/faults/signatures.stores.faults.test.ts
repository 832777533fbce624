// Signatures verified by other libraries: at full size.
import { testSignatures } from "./support/test-signatures.ts";

testSignatures({ flags: 300, byOpenssl: 60 });
