import { z } from "zod";
import { pageQuery } from "./responses.ts";
import { cleanText } from "./text.ts";

const word = cleanText(200).min(1).optional();
const time = z.iso.datetime({ offset: true }).optional();

/** Filters of the audit log, exact matches. `since` is inclusive, `until` exclusive. */
const filters = {
  /** Who made the change, for example `key:key_…`. */
  actor: word,
  /** What was done, for example `agent.update`. */
  action: word,
  /** Id of the resource that was changed or revealed. */
  target: word,
  since: time,
  until: time,
};

/** Query of `GET /audit`. */
export const auditQuery = z.strictObject({ ...pageQuery.shape, ...filters });
/** Query of `GET /audit/export`. */
export const auditExportQuery = z.strictObject(filters);
export type AuditFilter = z.infer<typeof auditExportQuery>;

/** An audit entry: one change or reveal. Never contains a secret. */
export const auditEntry = z.object({
  id: z.string(),
  time: z.iso.datetime(),
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  /** IP address of the client; null if the server itself made the change. */
  address: z.string().nullable(),
  /**
   * What the action did. If it changed fields of a resource, this has `before` and `after` with the
   * changed fields only; otherwise the content depends on the action. Long values are truncated.
   */
  data: z.record(z.string(), z.unknown()),
});
export type AuditEntry = z.infer<typeof auditEntry>;
