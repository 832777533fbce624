// All published cases of targeting over OFREP.
import { testOfrepCases } from "./support/test-ofrep-cases.ts";

testOfrepCases({ every: 1, least: 3_500 });
