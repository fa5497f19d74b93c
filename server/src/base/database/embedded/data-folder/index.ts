export { denyOtherUsers, writeAccessRules } from "./access-rules.ts";
export { initialise, rejectOtherVersion } from "./initialise.ts";
export { FolderInUseError, lockDataFolder } from "./lock-data-folder.ts";
export { dataFolderRemedy, openDataFolder } from "./open-data-folder.ts";
export { clearSocketFolder, openSocketFolder, removeTemporary } from "./open-socket-folder.ts";
export { findFreePort, setPasswords } from "./open-tcp.ts";
export { settings } from "./settings.ts";
export { removeUnfinished, unfinishedCluster } from "./unfinished.ts";
