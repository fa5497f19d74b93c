import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { account, isUnauthorized, meQuery, nextPath, workspaceIn } from "../data/index.ts";
import { Button, Field, FormError, PasswordInput, TextInput } from "../ui/index.ts";
import { AccountPage } from "./account-page.tsx";
import { checkEmail, checkPassword } from "./checks.ts";
import { signInSentence } from "./sentence-of.ts";
import { useFields } from "./use-fields.ts";
import { useSignIn } from "./use-sign-in.ts";

/** Signs a person in, then opens the page from which they were sent to the sign-in page. */
export function SignInScreen() {
  const search: { readonly next?: string } = useSearch({ strict: false });
  const next = nextPath(search.next) ?? "/";
  const router = useRouter();
  const queryClient = useQueryClient();
  const signIn = useSignIn();
  const fields = useFields(
    { email: "", password: "", workspace: workspaceIn(next) ?? "" },
    { email: checkEmail, password: checkPassword },
  );
  /** Whether the form shows the workspace, which is needed if several accounts have the e-mail. */
  const [asksWorkspace, setAsksWorkspace] = useState(false);
  const sending = useMutation({
    mutationFn: () => {
      const { email, password, workspace } = fields.values;
      const named = workspace.trim() === "" ? {} : { workspace_id: workspace.trim() };
      return signIn({ email: email.trim(), password, ...named }, () => next);
    },
    onError: (thrown) => {
      if (isUnauthorized(thrown)) setAsksWorkspace(true);
      fields.setValue("password", "");
      fields.focus("password");
    },
  });
  useEffect(() => {
    // Opens `next` at once if the person is signed in already. If `meQuery` has failed, another
    // page has found that nobody is signed in, so this is not checked again.
    if (queryClient.getQueryState(meQuery.queryKey)?.status === "error") return;
    const leaving = new AbortController();
    account.me.get({ signal: leaving.signal }).then(
      () => router.navigate({ href: next, replace: true }),
      () => {},
    );
    // If the person signs in and opens another page before the response arrives, the response must
    // not open `next`.
    return () => leaving.abort();
  }, [router, queryClient, next]);
  return (
    <AccountPage title="Sign in">
      <form
        ref={fields.form}
        noValidate
        onSubmit={fields.submit(() => sending.mutate())}
        className="flex flex-col gap-4"
      >
        <Field label="E-mail" error={fields.errors.email}>
          <TextInput {...fields.input("email")} type="email" autoComplete="username" autoFocus />
        </Field>
        <Field label="Password" error={fields.errors.password}>
          <PasswordInput {...fields.input("password")} autoComplete="current-password" />
        </Field>
        {asksWorkspace ? (
          <Field
            label="Workspace id"
            optional
            hint="Needed if several accounts use this e-mail: copy it from a page's address, after /w/."
          >
            <TextInput {...fields.input("workspace")} autoComplete="off" spellCheck={false} />
          </Field>
        ) : null}
        <FormError error={sending.isError ? signInSentence(sending.error) : undefined} />
        <Button
          type="submit"
          variant="primary"
          pending={sending.isPending}
          pendingText="Signing in…"
        >
          Sign in
        </Button>
      </form>
      <p className="text-dense text-ink-2">
        Forgot your password? Ask an owner of the workspace for a reset link.
      </p>
    </AccountPage>
  );
}
