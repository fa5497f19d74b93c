import { z } from "zod";
import { name } from "./text.ts";

/** For example Europe/Zurich: of the IANA database, since a day there is what its people take for one. */
const timeZone = z
  .string()
  .max(100)
  .refine(isTimeZone, "must be the name of a time zone, for example Europe/Zurich or UTC");

function isTimeZone(name: string): boolean {
  // An offset such as +02:00 is known too, and knows no summer.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** A tenant: it owns agents, keys, runs and all else. */
export const workspace = z.object({
  id: z.string(),
  name: z.string(),
  /** Its days begin and end there. */
  time_zone: z.string(),
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
});
