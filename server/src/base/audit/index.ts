export { changes } from "./changes.ts";
export { exportAudit } from "./export.ts";
export { listAudit } from "./list.ts";
export { type NewAuditEntry, record, recordAll, recordInEach } from "./record.ts";
