export { backUpCluster } from "./back-up-cluster.ts";
export { type BackupFile, readBackupFile } from "./backup-file.ts";
export { NotNowError } from "./not-now-error.ts";
export { restoreCluster } from "./restore-cluster.ts";
