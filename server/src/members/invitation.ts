import type { Invitation } from "@beckon/contract";
import type { InvitationRow } from "./invitation-store.ts";

/** An invitation with its link. Only the response that creates the invitation contains the link. */
export type InvitationWithLink = Invitation & { token: string; url: string };

/** @param valid Whether the link works: see the field in the contract. */
export function toInvitation(row: InvitationRow, valid: boolean): Invitation {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    valid,
  };
}
