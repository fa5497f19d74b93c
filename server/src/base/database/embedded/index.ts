export {
  type BackupFile,
  backUpCluster,
  NotNowError,
  readBackupFile,
  restoreCluster,
} from "./backup/index.ts";
export { dataFolderRemedy } from "./data-folder/index.ts";
export { EmbeddedError } from "./embedded-error.ts";
export { inspectDataFolder } from "./inspect-data-folder.ts";
export { type Embedded, type EmbeddedOptions, startEmbedded } from "./start-embedded.ts";
export { startExisting } from "./start-existing.ts";
