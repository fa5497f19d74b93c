import { z } from "zod";
import { name } from "./text.ts";

/** A name of the IANA time zone database, for example Europe/Zurich. */
const timeZone = z
  .string()
  .max(100)
  .refine(isTimeZone, "must be an IANA time zone, for example Europe/Zurich or UTC");

function isTimeZone(name: string): boolean {
  // Intl also accepts offsets such as +02:00, which have no daylight saving time.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** A tenant. It owns agents, keys, runs and all other resources. */
export const workspace = z.object({
  id: z.string(),
  name: z.string(),
  /** IANA name; defines when the workspace's days start and end. */
  time_zone: z.string(),
  /**
   * Days for which runs are kept after they ended, as the workspace has chosen. null: the workspace
   * has chosen none, so `max_run_retention_days` applies.
   */
  run_retention_days: z.number().int().nullable(),
  /** Days for which the operator keeps runs of any workspace; null: for ever. */
  max_run_retention_days: z.number().int().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Workspace = z.infer<typeof workspace>;

/** Body of `POST /workspaces`. */
export const createWorkspaceBody = z.strictObject({ name, time_zone: timeZone.default("UTC") });

/** Body of `PATCH /workspaces/:workspace_id`. */
export const updateWorkspaceBody = z.strictObject({
  name: name.optional(),
  time_zone: timeZone.optional(),
  /** At most the workspace's `max_run_retention_days`. null: that maximum applies. */
  run_retention_days: z.number().int().min(7).max(3_650).nullable().optional(),
});
