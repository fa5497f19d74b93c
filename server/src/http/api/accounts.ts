import {
  acceptedInvitation,
  acceptInvitationBody,
  changePasswordBody,
  me,
  pageQuery,
  resetPasswordBody,
  session,
  setupBody,
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
import { acceptInvitation, useResetLink } from "../../members/index.ts";
import { defaultWorkspaceId, setUp } from "../../workspaces/index.ts";
import type { AccountRoute } from "../management/index.ts";

const password = "correct horse battery staple";
const email = "ada@example.com";

/** Routes about people's accounts: how to get one, how to prove that one has one, and what is the person's own. */
export const accountRoutes: readonly AccountRoute[] = [
  {
    method: "POST",
    path: "/setup",
    who: "anybody",
    doc: {
      id: "setUp",
      summary: "Become the first owner",
      description:
        "Takes the token of the link that Beckon prints at its start, once. There is one as long as there is no owner, a new one at each start.",
      body: setupBody,
      data: user,
      errors: ["conflict"],
      example: { token: "bks_…", name: "Ada", email, password },
    },
    handle: async ({ ctx, body }) => ({ data: await setUp({ ctx, input: { body } }) }),
  },
  {
    method: "POST",
    path: "/sign-in",
    who: "anybody",
    doc: {
      id: "signIn",
      summary: "Sign in",
      description:
        "The answer sets the session's cookie, which authenticates all routes but triggers. A session lives 30 days from its last use. Beyond the limit of failures from an address no password is looked at. Several accounts can have the same e-mail: workspace_id names a workspace of which you are a member; without it the passwords of the oldest four are compared, and the oldest that has yours signs in.",
      body: signInBody,
      data: user,
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
      summary: "End the session",
      description: "Its cookie is refused by every request sent after the answer.",
    },
    handle: ({ ctx }) => signOut({ ctx }),
  },
  {
    method: "GET",
    path: "/me",
    who: "signed in",
    doc: {
      id: "getMe",
      summary: "Read who is signed in, and their role in which workspace",
      data: me,
    },
    handle: async ({ ctx }) => ({ data: await getMe({ ctx }) }),
  },
  {
    method: "PATCH",
    path: "/me",
    who: "signed in",
    doc: {
      id: "updateMe",
      summary: "Change one's own name",
      body: updateMeBody,
      data: user,
      example: { name: "Ada Lovelace" },
    },
    handle: async ({ ctx, body }) => ({ data: await updateMe({ ctx, input: { body } }) }),
  },
  {
    method: "GET",
    path: "/sessions",
    who: "signed in",
    doc: {
      id: "listSessions",
      summary: "List one's own sessions",
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
    doc: { id: "revokeOtherSessions", summary: "End all of one's own sessions but this one" },
    handle: async ({ ctx }) => {
      await revokeOtherSessions({ ctx });
      return {};
    },
  },
  {
    method: "DELETE",
    path: "/sessions/:session_id",
    who: "signed in",
    doc: { id: "revokeSession", summary: "End one of one's own sessions" },
    handle: async ({ ctx, param }) => {
      await revokeSession({ ctx, input: { sessionId: param("session_id") } });
      return {};
    },
  },
  {
    method: "POST",
    path: "/password",
    who: "signed in",
    doc: {
      id: "changePassword",
      summary: "Change one's own password",
      description: "All other sessions end.",
      body: changePasswordBody,
      example: { current_password: password, new_password: "staple battery horse correct" },
    },
    handle: async ({ ctx, body }) => {
      await changePassword({ ctx, input: { body } });
      return {};
    },
  },
  {
    method: "POST",
    path: "/password/reset",
    who: "anybody",
    doc: {
      id: "resetPassword",
      summary: "Set a new password by a link that an owner made",
      description:
        "The link works once, for as long as its issuer could make it and no membership or role of the person has changed. All sessions of the person end.",
      body: resetPasswordBody,
      example: { token: "bkr_…", new_password: password },
    },
    handle: async ({ ctx, body }) => {
      await useResetLink({ ctx, input: { body, firstWorkspaceId: defaultWorkspaceId } });
      return {};
    },
  },
  {
    method: "POST",
    path: "/invitations/accept",
    who: "anybody",
    doc: {
      id: "acceptInvitation",
      summary: "Accept an invitation",
      description:
        "Joins with an account that you choose: without password the one that is signed in, with password the one that has it and email (by default the invitation's). If there is none, a name makes a new account. An e-mail is a label: several accounts can have the same one, but not two members of one workspace, which is a 409.",
      body: acceptInvitationBody,
      data: acceptedInvitation,
      errors: ["conflict"],
      example: { token: "bki_…", name: "Grace", password },
    },
    handle: async ({ ctx, body, signedIn }) => ({
      data: await acceptInvitation({ ctx, input: { body, signedIn } }),
    }),
  },
];
