export { compareVersions } from "./compare-versions.ts";
export { getVersion } from "./get-version.ts";
export { listVersions } from "./list-versions.ts";
export { restoreVersion } from "./restore-version.ts";
