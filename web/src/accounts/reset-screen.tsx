import type { ResetCheck } from "@beckon/client";
import { useMutation } from "@tanstack/react-query";
import { account, sentOnce } from "../data/index.ts";
import { Button, Field, FormError, PasswordInput, TextInput } from "../ui/index.ts";
import { AccountPage } from "./account-page.tsx";
import { checkNewPassword } from "./checks.ts";
import { LinkCheck } from "./link-check.tsx";
import { tooManySentence } from "./sign-in-errors.ts";
import { useFields } from "./use-fields.ts";
import { useLinkOnce } from "./use-link-once.ts";
import { useSignIn } from "./use-sign-in.ts";

/** The page of a reset link. It sets a new password. */
export function ResetScreen() {
  return (
    <LinkCheck
      title="Set a new password"
      check={(token) => account.password.checkReset({ token }, sentOnce)}
    >
      {(link, token) => <ResetForm link={link} token={token} />}
    </LinkCheck>
  );
}

function ResetForm({ link, token }: { readonly link: ResetCheck; readonly token: string }) {
  const signIn = useSignIn();
  const callOnce = useLinkOnce();
  const fields = useFields({ password: "" }, { password: checkNewPassword });
  const reset = useMutation({
    mutationFn: async () => {
      const { password } = fields.values;
      // Other accounts can have the same e-mail, so the sign-in names the workspace.
      const credentials = { email: link.email, password, workspace_id: link.workspace_id };
      await callOnce(
        () => account.password.reset({ token, new_password: password }, sentOnce),
        () => signIn(credentials, () => "/"),
      );
    },
  });
  return (
    <AccountPage
      title="Set a new password"
      lead={`For ${link.name}. The link works once. Setting the password ends all your sessions.`}
    >
      <form
        ref={fields.form}
        noValidate
        onSubmit={fields.submit(() => reset.mutate())}
        className="flex flex-col gap-4"
      >
        <Field label="E-mail">
          <TextInput value={link.email} readOnly type="email" autoComplete="username" />
        </Field>
        <Field label="New password" error={fields.errors.password} hint="At least 12 characters.">
          <PasswordInput {...fields.input("password")} autoComplete="new-password" autoFocus />
        </Field>
        <FormError error={tooManySentence(reset.error) ?? reset.error} />
        <Button
          type="submit"
          variant="primary"
          pending={reset.isPending}
          pendingText="Setting the password…"
        >
          Set password
        </Button>
      </form>
    </AccountPage>
  );
}
