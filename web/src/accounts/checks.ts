import type { Check } from "./use-fields.ts";

/** Minimum and maximum length of a password in characters, as in contract/src/accounts.ts. */
const minPassword = 12;
const maxPassword = 128;

/** Checks a person's name. */
export const checkName: Check = (value) => (value.trim() === "" ? "Enter your name." : undefined);

/** Checks that a text looks like an e-mail address. The server checks it exactly. */
export const checkEmail: Check = (value) => {
  if (value.trim() === "") return "Enter your e-mail address.";
  return /^\S+@\S+\.\S+$/.test(value.trim())
    ? undefined
    : "This is not an e-mail address. Enter it like ada@example.com.";
};

/** Checks a new password. */
export const checkNewPassword: Check = (value) => {
  if (value === "") return "Enter a password.";
  if (value.length < minPassword)
    return `The password has ${value.length} characters. Use at least ${minPassword}.`;
  return value.length > maxPassword ? `Use at most ${maxPassword} characters.` : undefined;
};

/** Checks only that the password of an existing account is not empty. */
export const checkPassword: Check = (value) => (value === "" ? "Enter your password." : undefined);
