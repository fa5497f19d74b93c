import type { Invitation } from "@beckon/contract";
import type { InvitationRow } from "./invitation-store.ts";

/** An invitation and its link, in the one answer that shows it. */
export type InvitationWithLink = Invitation & { token: string; url: string };

export function toInvitation(row: InvitationRow): Invitation {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  };
}
