import { z } from "zod";
import { role } from "./roles.ts";
import { cleanText, name } from "./text.ts";

/**
 * An e-mail address. It is converted to lower case, so that addresses that differ only in case
 * count as the same one.
 */
export const email = cleanText(254)
  .pipe(z.email({ error: "must be an e-mail address" }))
  .transform((text) => text.toLowerCase());

/** A new password of 12 to 128 characters. No character classes are required. */
const password = cleanText(128).min(12);

/** A password of an existing account. It can be shorter than the minimum for new passwords. */
const existingPassword = cleanText(128).min(1);
const token = cleanText(100).min(1);

/** Fields of a new account that is created when an invitation is accepted. */
export const newAccount = z.object({ name, password });

/** Body of `POST /setup`: creates the first owner with the link that is printed at startup. */
export const setupBody = z.strictObject({ token, name, email, password });

/**
 * Body of `POST /sign-in`. Several accounts can have the same e-mail address, but in one workspace
 * an address is unique. `workspace_id` selects the account that is a member of this workspace.
 * Without it, the server compares the password only with those of the four oldest accounts with
 * this address, because a comparison needs much CPU and the number of accounts has no limit. The
 * account of `preferred_workspace_id` is compared too, and signs in if its password matches. It is
 * ignored if `workspace_id` is sent.
 */
export const signInBody = z.strictObject({
  email,
  password: existingPassword,
  workspace_id: cleanText(100).min(1).optional(),
  preferred_workspace_id: cleanText(100).min(1).optional(),
});

/** Body of `PATCH /me`. */
export const updateMeBody = z.strictObject({ name: name.optional() });

/** Body of `POST /password`. */
export const changePasswordBody = z.strictObject({
  current_password: existingPassword,
  new_password: password,
});

/** Body of `POST /password/reset`. */
export const resetPasswordBody = z.strictObject({ token, new_password: password });

/**
 * Body of `POST /invitations/accept`. With `password`, the account with this `email` and `password`
 * joins the workspace. `email` is by default the address in the invitation. If there is no such
 * account, it is created, and `name` is needed. Without `password`, the account that is signed in
 * joins.
 */
export const acceptInvitationBody = z
  .strictObject({
    token,
    name: name.optional(),
    email: email.optional(),
    password: existingPassword.optional(),
  })
  .refine(({ email, password }) => email === undefined || password !== undefined, {
    path: ["password"],
    error: "is missing: with email, also send the password of that account, or of the new account",
  });

/**
 * Body of the requests that check a one-time link, for example `POST /setup/check`. The dashboard
 * sends such a request when it opens the link, and shows the response above the form.
 */
export const checkLinkBody = z.strictObject({ token });

/** Response to a valid setup link: the workspace that gets its first owner. */
export const setupCheck = z.object({ workspace_name: z.string() });
export type SetupCheck = z.infer<typeof setupCheck>;

/** Response to a valid invitation: what the invited person joins, and who invited them. */
export const invitationCheck = z.object({
  workspace_id: z.string(),
  workspace_name: z.string(),
  role,
  email: z.string(),
  /** Null if a key made the invitation. */
  inviter_name: z.string().nullable(),
});
export type InvitationCheck = z.infer<typeof invitationCheck>;

/** Response to a valid reset link: the account whose password the link can set. */
export const resetCheck = z.object({
  name: z.string(),
  email: z.string(),
  /** The workspace in which the link was made. Send it with the sign-in that follows. */
  workspace_id: z.string(),
});
export type ResetCheck = z.infer<typeof resetCheck>;

/** A person's account. */
export const user = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type User = z.infer<typeof user>;

/** The signed-in person and their workspaces. */
export const me = z.object({
  ...user.shape,
  workspaces: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      role,
      /** What the role permits. Later versions can add scopes. */
      scopes: z.array(z.string()),
    }),
  ),
});
export type Me = z.infer<typeof me>;

/** A valid session. */
export const session = z.object({
  id: z.string(),
  /** Whether the request that lists the sessions was itself sent with this session. */
  current: z.boolean(),
  /** IP address of the sign-in; null if it is not known. */
  address: z.string().nullable(),
  /** `User-Agent` of the sign-in; null if the client sent none. */
  user_agent: z.string().nullable(),
  created_at: z.iso.datetime(),
  /** Updated at most once a day. */
  last_used_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});
export type Session = z.infer<typeof session>;
