export { backUpCluster, NotNowError } from "./back-up-cluster.ts";
export { type BackupFile, readBackupFile } from "./backup-file.ts";
export { restoreCluster } from "./restore-cluster.ts";
