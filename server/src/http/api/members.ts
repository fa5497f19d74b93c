import {
  createInvitationBody,
  emptyBody,
  invitation,
  member,
  pageQuery,
  resetLink,
  updateMemberBody,
} from "@beckon/contract";
import { z } from "zod";
import {
  inviteMember,
  listInvitations,
  listMembers,
  removeMember,
  resetMemberPassword,
  updateMember,
  withdrawInvitation,
} from "../../members/index.ts";
import { defaultWorkspaceId } from "../../workspaces/index.ts";
import type { ManagedRequest, ManagedRoute } from "../management/index.ts";

const memberOf = (request: ManagedRequest) => ({ userId: request.param("user_id") });

const linkShown = z.object({ token: z.string(), url: z.string() });

export const memberRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/members",
    permission: "members:read",
    doc: { id: "listMembers", summary: "List members", query: pageQuery, data: member, list: true },
    handle: ({ ctx, query }) => listMembers({ ctx, input: { query } }),
  },
  {
    method: "PATCH",
    path: "/members/:user_id",
    permission: "members:write",
    doc: {
      id: "updateMember",
      summary: "Change a member's role",
      description:
        "Holds for every request sent after the answer. Nobody gives a role above their own, nor changes who is above them.",
      body: updateMemberBody,
      data: member,
      errors: ["conflict"],
      example: { role: "editor" },
    },
    handle: async (request) => ({
      data: await updateMember({
        ctx: request.ctx,
        input: { ...memberOf(request), body: request.body },
      }),
    }),
  },
  {
    method: "DELETE",
    path: "/members/:user_id",
    permission: "members:write",
    doc: {
      id: "removeMember",
      summary: "Remove a member, or leave",
      description:
        "Every request sent after the answer is refused. Everybody may remove themselves, but the last owner.",
      errors: ["conflict"],
    },
    handle: async (request) => {
      await removeMember({ ctx: request.ctx, input: memberOf(request) });
      return {};
    },
  },
  {
    method: "POST",
    path: "/members/:user_id/reset-link",
    permission: "workspaces:own",
    doc: {
      id: "createResetLink",
      summary: "Make a link by which a member sets a new password",
      description:
        "It works once, for 24 hours, and takes the place of the one before. It stops when you could not make it any more, or when a membership or role of the member changes. The member must be in no workspace that you do not own, unless you own the workspace default.",
      body: emptyBody,
      bodyOptional: true,
      data: resetLink,
      also: linkShown,
      once: true,
    },
    handle: async (request) => {
      const { ctx, body, publicUrl } = request;
      const input = { ...memberOf(request), body, publicUrl, firstWorkspaceId: defaultWorkspaceId };
      return { ...(await resetMemberPassword({ ctx, input })), secret: true };
    },
  },
  {
    method: "POST",
    path: "/invitations",
    permission: "members:write",
    doc: {
      id: "createInvitation",
      summary: "Invite a person",
      description:
        "The link, url, is shown in this answer only; hand it to the person. It works once, for as long as you could make it. The e-mail is a label: whoever accepts chooses the account. Nobody invites to a role above their own.",
      body: createInvitationBody,
      data: invitation,
      also: linkShown,
      created: true,
      once: true,
      example: { email: "grace@example.com", role: "editor" },
    },
    handle: async ({ ctx, body, publicUrl }) => {
      const { data, replayed } = await inviteMember({ ctx, input: { body, publicUrl } });
      return { data, replayed, secret: true, location: `/api/public/invitations/${data.id}` };
    },
  },
  {
    method: "GET",
    path: "/invitations",
    permission: "members:read",
    doc: {
      id: "listInvitations",
      summary: "List open invitations",
      query: pageQuery,
      data: invitation,
      list: true,
    },
    handle: ({ ctx, query }) => listInvitations({ ctx, input: { query } }),
  },
  {
    method: "DELETE",
    path: "/invitations/:invitation_id",
    permission: "members:write",
    doc: {
      id: "deleteInvitation",
      summary: "Take an invitation back",
      description: "Its link stops at once.",
    },
    handle: async ({ ctx, param }) => {
      await withdrawInvitation({ ctx, input: { invitationId: param("invitation_id") } });
      return {};
    },
  },
];
