import { z } from "zod";
import { email } from "./accounts.ts";
import { role } from "./roles.ts";

/** A person in a workspace. `id` is the user id, the same in all workspaces. */
export const member = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  role,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Member = z.infer<typeof member>;

/** The membership that an accepted invitation created, and the id of its workspace. */
export const acceptedInvitation = z.object({ ...member.shape, workspace_id: z.string() });
export type AcceptedInvitation = z.infer<typeof acceptedInvitation>;

/**
 * The field `data` of the response to `POST /members/:user_id/reset-link`. The link itself is in
 * the fields `token` and `url` of the same response.
 */
export const resetLink = z.object({ expires_at: z.iso.datetime() });

/** Body of `PATCH /members/:user_id`. */
export const updateMemberBody = z.strictObject({ role });

/**
 * An invitation to join a workspace by a single-use link. `email` is informational: any account can
 * accept the invitation.
 */
export const invitation = z.object({
  id: z.string(),
  email: z.string(),
  role,
  created_by: z.string(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  /**
   * False if the link does not work: the invitation has expired, or its issuer can no longer invite
   * to this role.
   */
  valid: z.boolean(),
});
export type Invitation = z.infer<typeof invitation>;

/** Body of `POST /invitations`. */
export const createInvitationBody = z.strictObject({
  email,
  role,
  expires_in_days: z.number().int().min(1).max(90).default(7),
});
