import { z } from "zod";
import { role } from "./roles.ts";
import { cleanText, name } from "./text.ts";

/** Compared and kept in lower case: no two people differ by that alone. */
export const email = cleanText(254)
  .pipe(z.email({ error: "must be an e-mail address" }))
  .transform((text) => text.toLowerCase());

/** Of a new password. Length is what makes one hard to guess. */
const password = cleanText(128).min(12);

/** A password to compare, of whatever length it was when it was set. */
const givenPassword = cleanText(128).min(1);
const token = cleanText(100).min(1);

/** What a new person gives beside an invitation. */
export const newAccount = z.object({ name, password });

/** Body of `POST /setup`: the first owner, by the link that the start has printed. */
export const setupBody = z.strictObject({ token, name, email, password });

/**
 * Body of `POST /sign-in`. Several accounts can have one e-mail; among the members of a workspace
 * it is unique.
 */
export const signInBody = z.strictObject({
  email,
  password: givenPassword,
  workspace_id: cleanText(100).min(1).optional(),
});

/** Body of `PATCH /me`. */
export const updateMeBody = z.strictObject({ name: name.optional() });

/** Body of `POST /password`. */
export const changePasswordBody = z.strictObject({
  current_password: givenPassword,
  new_password: password,
});

/** Body of `POST /password/reset`. */
export const resetPasswordBody = z.strictObject({ token, new_password: password });

/**
 * Body of `POST /invitations/accept`. `password`, with `email` or else the invitation's, names an
 * account there is; if there is none, a `name` makes a new one. Without `password` the account is
 * the one that is signed in.
 */
export const acceptInvitationBody = z
  .strictObject({
    token,
    name: name.optional(),
    email: email.optional(),
    password: givenPassword.optional(),
  })
  .refine(({ email, password }) => email === undefined || password !== undefined, {
    path: ["password"],
    error:
      "is missing: an email names an account only with its password, or with the password of a new one",
  });

/** A person. */
export const user = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type User = z.infer<typeof user>;

/** Who is signed in, and where they are a member. */
export const me = z.object({
  ...user.shape,
  workspaces: z.array(z.object({ id: z.string(), name: z.string(), role })),
});
export type Me = z.infer<typeof me>;

/** A sign-in that stands. */
export const session = z.object({
  id: z.string(),
  /** It is the one that asks. */
  current: z.boolean(),
  /** Where it signed in from. */
  address: z.string().nullable(),
  /** What the browser says it is. */
  user_agent: z.string().nullable(),
  created_at: z.iso.datetime(),
  /** To the day. */
  last_used_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});
export type Session = z.infer<typeof session>;
