import { z } from "zod";
import { role } from "./roles.ts";
import { cleanText, name } from "./text.ts";

/** Stored and compared in lower case, so that addresses are unique regardless of case. */
export const email = cleanText(254)
  .pipe(z.email({ error: "must be an e-mail address" }))
  .transform((text) => text.toLowerCase());

/** A new password. Only a minimum length is enforced, no character classes. */
const password = cleanText(128).min(12);

/** A password to verify. It may be shorter than today's minimum for new passwords. */
const existingPassword = cleanText(128).min(1);
const token = cleanText(100).min(1);

/** Fields of a new account that is created when an invitation is accepted. */
export const newAccount = z.object({ name, password });

/** Body of `POST /setup`: creates the first owner with the link that is printed at startup. */
export const setupBody = z.strictObject({ token, name, email, password });

/**
 * Body of `POST /sign-in`. Several accounts can have one e-mail; among the members of a workspace
 * it is unique.
 */
export const signInBody = z.strictObject({
  email,
  password: existingPassword,
  workspace_id: cleanText(100).min(1).optional(),
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
 * Body of `POST /invitations/accept`. With `password`, the account is the one with `email`
 * (default: the invitation's); if it does not exist, `name` is needed to create it. Without
 * `password`, the account is the one that is signed in.
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
  workspaces: z.array(z.object({ id: z.string(), name: z.string(), role })),
});
export type Me = z.infer<typeof me>;

/** A valid session. */
export const session = z.object({
  id: z.string(),
  /** Whether this request was made with it. */
  current: z.boolean(),
  /** IP address of the sign-in. */
  address: z.string().nullable(),
  /** `User-Agent` of the sign-in. */
  user_agent: z.string().nullable(),
  created_at: z.iso.datetime(),
  /** Precision: one day. */
  last_used_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});
export type Session = z.infer<typeof session>;
