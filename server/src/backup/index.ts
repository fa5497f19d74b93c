export { type BackupSummary, backUp } from "./back-up.ts";
export { BackupError } from "./backup-error.ts";
export { markDatabase } from "./mark-restored.ts";
export { type RestoreSummary, restore } from "./restore.ts";
