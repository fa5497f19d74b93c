import {
  acceptedInvitation,
  acceptInvitationBody,
  changePasswordBody,
  checkLinkBody,
  invitationCheck,
  me,
  pageQuery,
  resetCheck,
  resetPasswordBody,
  session,
  setupBody,
  setupCheck,
  signInBody,
  updateMeBody,
  user,
} from "@beckon/contract";
import {
  changePassword,
  getMe,
  listSessions,
  revokeOtherSessions,
  revokeSession,
  signIn,
  signOut,
  updateMe,
} from "../../accounts/index.ts";
import {
  acceptInvitation,
  checkInvitation,
  checkResetLink,
  useResetLink,
} from "../../members/index.ts";
import { checkSetup, defaultWorkspaceId, setUp } from "../../workspaces/index.ts";
import { type AccountRoute, dataOf } from "../management/index.ts";

const password = "correct horse battery staple";
const email = "ada@example.com";

/** Routes to create an account, to sign in, and to manage the signed-in person's account. */
export const accountRoutes: readonly AccountRoute[] = [
  {
    method: "POST",
    path: "/setup",
    who: "anybody",
    doc: {
      id: "setUp",
      summary: "Set up first owner",
      description:
        "Needs the token of the one-time link that Beckon prints at startup, a new one each time, until there is an owner.",
      body: setupBody,
      data: user,
      errors: ["conflict"],
      example: { token: "bks_…", name: "Ada", email, password },
    },
    handle: ({ ctx, body }) => dataOf(setUp({ ctx, input: { body } })),
  },
  {
    method: "POST",
    path: "/setup/check",
    who: "anybody",
    doc: {
      id: "checkSetup",
      summary: "Check setup link",
      description: "Says what a valid setup link is for, and changes nothing.",
      body: checkLinkBody,
      data: setupCheck,
      example: { token: "bks_…" },
    },
    handle: ({ ctx, body }) => dataOf(checkSetup({ ctx, input: { body } })),
  },
  {
    method: "POST",
    path: "/sign-in",
    who: "anybody",
    doc: {
      id: "signIn",
      summary: "Sign in",
      description:
        "Sets the session cookie, which authenticates all routes except fires. A session expires 29 to 30 days after its last use, because it is extended at most once a day. Beyond the limit of failures from an address, no password is checked. Several accounts can have the same e-mail: send the `workspace_id` of a workspace of which you are a member; without it, the oldest four accounts are compared, and the oldest with your password signs in. With `preferred_workspace_id`, the account of this workspace is compared, too, and takes precedence.",
      body: signInBody,
      data: user,
      setsCookie: true,
      example: { email, password },
    },
    handle: ({ ctx, body }) => signIn({ ctx, input: { body } }),
  },
  {
    method: "POST",
    path: "/sign-out",
    who: "signed in",
    doc: {
      id: "signOut",
      summary: "Sign out",
      description: "Ends the session. Takes effect with the response.",
    },
    handle: ({ ctx }) => signOut({ ctx }),
  },
  {
    method: "GET",
    path: "/me",
    who: "signed in",
    doc: {
      id: "getMe",
      summary: "Get current user",
      description: "With the role in each workspace, and the scopes of that role.",
      data: me,
    },
    handle: ({ ctx }) => dataOf(getMe({ ctx })),
  },
  {
    method: "PATCH",
    path: "/me",
    who: "signed in",
    doc: {
      id: "updateMe",
      summary: "Update current user",
      body: updateMeBody,
      data: user,
      example: { name: "Ada Lovelace" },
    },
    handle: ({ ctx, body }) => dataOf(updateMe({ ctx, input: { body } })),
  },
  {
    method: "GET",
    path: "/sessions",
    who: "signed in",
    doc: {
      id: "listSessions",
      summary: "List sessions",
      description: "The sessions of the current user.",
      query: pageQuery,
      data: session,
      list: true,
    },
    handle: ({ ctx, query }) => listSessions({ ctx, input: { query } }),
  },
  {
    method: "DELETE",
    path: "/sessions",
    who: "signed in",
    doc: {
      id: "revokeOtherSessions",
      summary: "Revoke other sessions",
      description: "Ends all sessions of the current user except this one.",
    },
    handle: ({ ctx }) => revokeOtherSessions({ ctx }),
  },
  {
    method: "DELETE",
    path: "/sessions/:session_id",
    who: "signed in",
    doc: {
      id: "revokeSession",
      summary: "Revoke session",
      description: "Ends one session of the current user.",
    },
    handle: ({ ctx, param }) => revokeSession({ ctx, input: { sessionId: param("session_id") } }),
  },
  {
    method: "POST",
    path: "/password",
    who: "signed in",
    doc: {
      id: "changePassword",
      summary: "Change password",
      description:
        "Ends all sessions of the current user, also the one that sends the request, and sets the cookie of a new one.",
      body: changePasswordBody,
      setsCookie: true,
      example: { current_password: password, new_password: "staple battery horse correct" },
    },
    handle: ({ ctx, body }) => changePassword({ ctx, input: { body } }),
  },
  {
    method: "POST",
    path: "/password/reset",
    who: "anybody",
    doc: {
      id: "resetPassword",
      summary: "Reset password",
      description:
        "Needs the token of a link that an owner created. The link works once, while its issuer has the permission to create it and no membership or role of the person has changed. Ends all sessions of the person.",
      body: resetPasswordBody,
      example: { token: "bkr_…", new_password: password },
    },
    handle: ({ ctx, body }) =>
      useResetLink({ ctx, input: { body, firstWorkspaceId: defaultWorkspaceId } }),
  },
  {
    method: "POST",
    path: "/password/reset/check",
    who: "anybody",
    doc: {
      id: "checkPasswordReset",
      summary: "Check reset link",
      description: "Says whose password a valid reset link sets, and changes nothing.",
      body: checkLinkBody,
      data: resetCheck,
      example: { token: "bkr_…" },
    },
    handle: ({ ctx, body }) =>
      dataOf(checkResetLink({ ctx, input: { body, firstWorkspaceId: defaultWorkspaceId } })),
  },
  {
    method: "POST",
    path: "/invitations/check",
    who: "anybody",
    doc: {
      id: "checkInvitation",
      summary: "Check invitation",
      description:
        "Says what a valid invitation is for, and changes nothing. `inviter_name` is null if a key made the invitation.",
      body: checkLinkBody,
      data: invitationCheck,
      example: { token: "bki_…" },
    },
    handle: ({ ctx, body }) => dataOf(checkInvitation({ ctx, input: { body } })),
  },
  {
    method: "POST",
    path: "/invitations/accept",
    who: "anybody",
    acceptsSession: true,
    doc: {
      id: "acceptInvitation",
      summary: "Accept invitation",
      description:
        "Joins the workspace with an account that you choose: without `password` the one that is signed in, otherwise the one with this password and `email`, by default the invitation's. If there is none, send a `name` to create one. Several accounts can have the same e-mail, but not two members of one workspace: that is a 409.",
      body: acceptInvitationBody,
      data: acceptedInvitation,
      errors: ["conflict"],
      example: { token: "bki_…", name: "Grace", password },
    },
    handle: ({ ctx, body, signedIn }) =>
      dataOf(acceptInvitation({ ctx, input: { body, signedIn } })),
  },
];
