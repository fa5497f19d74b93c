export { changes } from "./changes.ts";
export { exportAudit } from "./export.ts";
export { listAudit } from "./list.ts";
export { record, recordInEach } from "./record.ts";
