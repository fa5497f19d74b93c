import { z } from "zod";
import { pageQuery } from "./answers.ts";
import { cleanText } from "./text.ts";

const word = cleanText(200).min(1).optional();
const time = z.iso.datetime({ offset: true }).optional();

/** Filters of the audit, each exact; `since` is the first moment, `until` the one after the last. */
const filters = {
  /** For example `key:key_…`. */
  actor: word,
  /** For example `agent.update`. */
  action: word,
  /** The id of what was changed or revealed. */
  target: word,
  since: time,
  until: time,
};

/** Query of `GET /audit`. */
export const auditQuery = z.strictObject({ ...pageQuery.shape, ...filters });
/** Query of `GET /audit/export`. */
export const auditExportQuery = z.strictObject(filters);
export type AuditFilter = z.infer<typeof auditExportQuery>;

/** A change or a reveal: who, from where, when, what of. Never a secret. */
export const auditEntry = z.object({
  id: z.string(),
  time: z.iso.datetime(),
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  /** Where the request came from; null: from inside. */
  address: z.string().nullable(),
  /** Of a change `before` and `after`: the members that differ. Long values are cut. */
  data: z.record(z.string(), z.unknown()),
});
export type AuditEntry = z.infer<typeof auditEntry>;
