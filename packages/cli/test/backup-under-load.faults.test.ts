// A backup in the middle of changes: at full size.
import { testBackupUnderLoad } from "./support/test-backup-under-load.ts";

testBackupUnderLoad({ wanted: 30_000, megabytes: 300 });
