export { acceptInvitation } from "./accept-invitation.ts";
export { inviteMember } from "./invite.ts";
export { listMembers } from "./list.ts";
export { listInvitations } from "./list-invitations.ts";
export { removeMember } from "./remove.ts";
export { resetMemberPassword } from "./reset-password.ts";
export { findMemberships, insertMember } from "./store.ts";
export { updateMember } from "./update.ts";
export { withdrawInvitation } from "./withdraw-invitation.ts";
