// A backup in the middle of changes: a small run for `npm test`.
import { testBackupUnderLoad } from "./support/test-backup-under-load.ts";

testBackupUnderLoad({ wanted: 1_500, megabytes: 15 });
