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
import { dataOf, type ManagedRequest, type ManagedRoute } from "../management/index.ts";

const memberOf = (request: ManagedRequest) => ({ userId: request.param("user_id") });
const withBody = (request: ManagedRequest) => ({ ...memberOf(request), body: request.body });

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
      summary: "Update member role",
      description:
        "Takes effect with the response. You cannot grant a role above your own, or change a member above you.",
      body: updateMemberBody,
      data: member,
      errors: ["conflict"],
      example: { role: "editor" },
    },
    handle: (request) => dataOf(updateMember({ ctx: request.ctx, input: withBody(request) })),
  },
  {
    method: "DELETE",
    path: "/members/:user_id",
    permission: "members:write",
    doc: {
      id: "removeMember",
      summary: "Remove member",
      description:
        "Takes effect with the response. Every member can leave by removing themselves, except the last owner.",
      errors: ["conflict"],
    },
    handle: (request) => removeMember({ ctx: request.ctx, input: memberOf(request) }),
  },
  {
    method: "POST",
    path: "/members/:user_id/reset-link",
    permission: "workspaces:own",
    doc: {
      id: "createResetLink",
      summary: "Create password reset link",
      description:
        "The link works once, for 24 hours, and replaces the previous one. It stops if you lose the permission to create it, or if a membership or role of the member changes. The member must not be in a workspace that you do not own, unless you create the link as an owner or with a key of the workspace `default`, for a member of `default`. A session cannot create a link for its own person.",
      body: emptyBody,
      bodyOptional: true,
      data: resetLink,
      also: linkShown,
      once: true,
    },
    handle: async (request) => {
      const { ctx, body, publicUrl } = request;
      const input = { ...memberOf(request), body, publicUrl, firstWorkspaceId: defaultWorkspaceId };
      return resetMemberPassword({ ctx, input });
    },
  },
];

/** Routes of the invitations to a workspace. */
export const invitationRoutes: readonly ManagedRoute[] = [
  {
    method: "POST",
    path: "/invitations",
    permission: "members:write",
    doc: {
      id: "createInvitation",
      summary: "Create invitation",
      description:
        "Only this response has the link, `url`: send it to the person. It works once, while you have the permission to create it. The e-mail is a label: the person who accepts chooses the account. You cannot invite to a role above your own.",
      body: createInvitationBody,
      data: invitation,
      also: linkShown,
      created: null,
      once: true,
      example: { email: "grace@example.com", role: "editor" },
    },
    handle: ({ ctx, body, publicUrl }) => inviteMember({ ctx, input: { body, publicUrl } }),
  },
  {
    method: "GET",
    path: "/invitations",
    permission: "members:read",
    doc: {
      id: "listInvitations",
      summary: "List invitations",
      description:
        "Lists invitations that were not accepted. The link of one whose `valid` is false does not work: it has expired, or its issuer can no longer invite to this role.",
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
      summary: "Revoke invitation",
      description: "Its link stops at once.",
    },
    handle: ({ ctx, param }) =>
      withdrawInvitation({ ctx, input: { invitationId: param("invitation_id") } }),
  },
];
