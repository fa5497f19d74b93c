import type { SignInBody } from "@beckon/client";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { isUnauthorized } from "../data/index.ts";
import { Button, Field, FormError, PasswordInput, TextInput } from "../ui/index.ts";
import { checkEmail, checkPassword } from "./checks.ts";
import { signInSentence } from "./sign-in-errors.ts";
import { useFields } from "./use-fields.ts";

interface SignInFormProps {
  /** The e-mail that the form starts with. If it is given, the password gets the focus. */
  readonly email?: string | undefined;
  /** Id of the workspace of the page. Its account with the e-mail and the password is preferred. */
  readonly workspace?: string | undefined;
  /** Signs in. @throws BeckonError if that failed; the form then shows why */
  readonly signIn: (body: SignInBody) => Promise<void>;
}

/** The form with which a person signs in. */
export function SignInForm({ email: initial = "", workspace, signIn }: SignInFormProps) {
  const fields = useFields(
    { email: initial, password: "", workspace: "" },
    { email: checkEmail, password: checkPassword },
  );
  /** Whether the form shows the workspace, which is needed if several accounts have the e-mail. */
  const [asksWorkspace, setAsksWorkspace] = useState(false);
  const sending = useMutation({
    mutationFn: async () => {
      const body = { email: fields.values.email.trim(), password: fields.values.password };
      const named = fields.values.workspace.trim();
      if (named !== "") return signIn({ ...body, workspace_id: named });
      // The page can be one of a workspace of which no account of the person is a member. So its
      // workspace is only preferred.
      return signIn(
        workspace === undefined ? body : { ...body, preferred_workspace_id: workspace },
      );
    },
    onError: (thrown) => {
      if (isUnauthorized(thrown)) {
        setAsksWorkspace(true);
        fields.setValue("password", "");
      }
      fields.focus("password");
    },
  });
  return (
    <>
      <form
        ref={fields.form}
        noValidate
        onSubmit={fields.submit(() => sending.mutate())}
        className="flex flex-col gap-4"
      >
        <Field label="E-mail" error={fields.errors.email}>
          <TextInput
            {...fields.input("email")}
            type="email"
            autoComplete="username"
            autoFocus={initial === ""}
          />
        </Field>
        <Field label="Password" error={fields.errors.password}>
          <PasswordInput
            {...fields.input("password")}
            autoComplete="current-password"
            autoFocus={initial !== ""}
          />
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
        Forgot your password? Ask an owner of the workspace for a reset link. The only owner of the
        workspace “default” makes it with the bootstrap key.
      </p>
    </>
  );
}
