import type { AuditEntry } from "@beckon/contract";
import type { AuditRow } from "./store.ts";

export function toEntry(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    time: row.time.toISOString(),
    actor: row.actor,
    action: row.action,
    target: row.target,
    address: row.address,
    data: row.data,
  };
}
