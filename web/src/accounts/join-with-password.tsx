import { useMutation } from "@tanstack/react-query";
import { account, isUnauthorized, sentenceOf, sentOnce } from "../data/index.ts";
import { Button, Field, FormError, PasswordInput, TextInput } from "../ui/index.ts";
import { checkEmail, checkName, checkNewPassword, checkPassword } from "./checks.ts";
import { tooManySentence } from "./sign-in-errors.ts";
import { useFields } from "./use-fields.ts";
import { useLinkOnce } from "./use-link-once.ts";
import { useSignIn } from "./use-sign-in.ts";

interface JoinWithPasswordProps {
  readonly token: string;
  readonly workspaceId: string;
  /** The e-mail address of the invitation. The person can join with another address. */
  readonly email: string;
  readonly isNew: boolean;
}

/** Accepts an invitation with a new account or with an existing one, and signs in. */
export function JoinWithPassword({ token, workspaceId, ...props }: JoinWithPasswordProps) {
  const { email: invited, isNew } = props;
  const signIn = useSignIn();
  const callOnce = useLinkOnce();
  const fields = useFields(
    { name: "", email: invited, password: "" },
    {
      email: checkEmail,
      password: isNew ? checkNewPassword : checkPassword,
      ...(isNew ? { name: checkName } : {}),
    },
  );
  const join = useMutation({
    mutationFn: async () => {
      const { name, password } = fields.values;
      const credentials = { email: fields.values.email.trim(), password };
      await callOnce(
        () =>
          account.invitations.accept(
            { token, ...credentials, ...(isNew ? { name: name.trim() } : {}) },
            sentOnce,
          ),
        // The sign-in names the workspace, so it fails if the person did not become a member of it.
        () => signIn({ ...credentials, workspace_id: workspaceId }, () => `/w/${workspaceId}`),
      );
    },
  });
  return (
    <form
      ref={fields.form}
      noValidate
      onSubmit={fields.submit(() => join.mutate())}
      className="flex flex-col gap-4"
    >
      {isNew ? (
        <Field label="Your name" error={fields.errors.name}>
          <TextInput {...fields.input("name")} autoComplete="name" autoFocus />
        </Field>
      ) : null}
      <Field label="E-mail" error={fields.errors.email}>
        <TextInput {...fields.input("email")} type="email" autoComplete="username" />
      </Field>
      <Field
        label="Password"
        error={fields.errors.password}
        hint={isNew ? "At least 12 characters." : undefined}
      >
        <PasswordInput
          {...fields.input("password")}
          autoComplete={isNew ? "new-password" : "current-password"}
          autoFocus={!isNew}
        />
      </Field>
      <FormError error={join.isError ? joinSentence(join.error, isNew) : undefined} />
      <Button type="submit" variant="primary" pending={join.isPending} pendingText="Joining…">
        Join
      </Button>
    </form>
  );
}

function joinSentence(thrown: unknown, isNew: boolean): string {
  if (!isNew && isUnauthorized(thrown))
    return `${sentenceOf(thrown)} If you have no account yet, create a new one.`;
  return tooManySentence(thrown) ?? sentenceOf(thrown);
}
