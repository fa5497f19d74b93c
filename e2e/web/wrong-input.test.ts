import type { Page } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson, setupToken } from "../../server/test/people.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";

/**
 * Tests that each form outside of workspaces says at its fields what is wrong, and sends nothing.
 */

const beckon = await startTestBeckon();
const member = await addPerson(beckon, { role: "viewer" });

const invitePath = async () => {
  const body = { email: "grace@example.com", role: "viewer" };
  const { data } = (await beckon.call("/invitations", { body })).body;
  return `/invite#token=${data.token}`;
};
const resetPath = async () => {
  const { data } = (await beckon.call(`/members/${member.id}/reset-link`, { method: "POST" })).body;
  return `/reset#token=${data.token}`;
};

interface Form {
  readonly name: string;
  readonly path: () => Promise<string>;
  /** The name of a button that shows the form; undefined if the page shows it at once. */
  readonly opener?: string;
  readonly submit: string;
  /** Labels of the fields in the order of the page, and what an empty field says. */
  readonly fields: readonly (readonly [label: string, whenEmpty: string])[];
  /** Whether the password is a new one, which has a minimum length. */
  readonly isNewPassword: boolean;
}

const name = ["Your name", "Enter your name."] as const;
const email = ["E-mail", "Enter your e-mail address."] as const;
const newPassword = ["Password", "Enter a password."] as const;
const password = ["Password", "Enter your password."] as const;

const forms: readonly Form[] = [
  {
    name: "setup",
    path: async () => `/setup#token=${await setupToken(beckon)}`,
    submit: "Create owner",
    fields: [name, email, newPassword],
    isNewPassword: true,
  },
  {
    name: "invitation with a new account",
    path: invitePath,
    submit: "Join",
    fields: [name, email, newPassword],
    isNewPassword: true,
  },
  {
    name: "invitation with an existing account",
    path: invitePath,
    opener: "I have an account already",
    submit: "Join",
    fields: [email, password],
    isNewPassword: false,
  },
  {
    name: "password reset",
    path: resetPath,
    submit: "Set password",
    fields: [["New password", "Enter a password."]],
    isNewPassword: true,
  },
  {
    name: "sign-in",
    path: async () => "/sign-in",
    submit: "Sign in",
    fields: [email, password],
    isNewPassword: false,
  },
];

/** An expression. Returns label and description of the invalid fields, and the focused label. */
const fieldErrors = `(() => {
  const labelOf = (field) => field?.labels?.[0]?.textContent;
  const notesOf = (field) =>
    (field.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean)
      .map((id) => document.getElementById(id)?.textContent).join(" ");
  const invalid = [...document.querySelectorAll("[aria-invalid=true]")];
  return {
    errors: invalid.map((field) => [labelOf(field), notesOf(field)]),
    focused: labelOf(document.activeElement),
  };
})()`;

/** Submits the form and waits for these errors. The first of their fields has the focus. */
async function expectErrors(
  page: Page,
  { submit }: Form,
  errors: readonly (readonly [label: string, error: string])[],
): Promise<void> {
  await page.getByRole("button", { name: submit, exact: true }).click();
  await expect
    .poll(() => page.evaluate(fieldErrors))
    .toEqual({ errors, focused: errors[0]?.[0] ?? "" });
}

for (const form of forms) {
  inBrowser(`the form of the ${form.name} says at each field what is wrong`, async () => {
    const page = await openDashboard(beckon.url, { path: await form.path() });
    const field = (label: string) => page.getByLabel(label, { exact: true });
    if (form.opener !== undefined) await page.getByRole("button", { name: form.opener }).click();
    for (const [label] of form.fields) await field(label).fill("");
    const sent: string[] = [];
    page.on("request", (request) => {
      if (request.method() !== "GET") sent.push(request.url());
    });
    await expectErrors(page, form, form.fields);

    const labels = form.fields.map(([label]) => label);
    const [secret, withoutPassword = ""] = form.fields.at(-1) ?? ["", ""];
    if (labels.includes("Your name")) await field("Your name").fill("Ada");
    if (labels.includes("E-mail")) {
      await field("E-mail").fill("a@b");
      await expectErrors(page, form, [
        ["E-mail", "This is not an e-mail address. Enter it like ada@example.com."],
        [secret, withoutPassword],
      ]);
      await field("E-mail").fill("ada@example.com");
    }
    await field(secret).fill(form.isNewPassword ? "short" : "");
    const short = "The password has 5 characters. Use at least 12.";
    await expectErrors(page, form, [[secret, form.isNewPassword ? short : withoutPassword]]);
    expect(sent).toEqual([]);
  });
}
