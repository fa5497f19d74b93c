import { useMutation } from "@tanstack/react-query";
import { account, clientOf, defaultWorkspaceId, sentOnce } from "../data/index.ts";
import { Button, Field, FormError, PasswordInput, TextInput } from "../ui/index.ts";
import { AccountPage } from "./account-page.tsx";
import { checkEmail, checkName, checkNewPassword } from "./checks.ts";
import { LinkCheck } from "./link-check.tsx";
import { tooManySentence } from "./sign-in-errors.ts";
import { useFields } from "./use-fields.ts";
import { useLinkOnce } from "./use-link-once.ts";
import { useSignIn } from "./use-sign-in.ts";

/** The page of the link that Beckon prints at startup. It creates the first owner. */
export function SetupScreen() {
  return (
    <LinkCheck title="Create the owner" check={(token) => account.setup.check({ token }, sentOnce)}>
      {(_, token) => <OwnerForm token={token} />}
    </LinkCheck>
  );
}

function OwnerForm({ token }: { readonly token: string }) {
  const signIn = useSignIn();
  const callOnce = useLinkOnce();
  const fields = useFields(
    { name: "", email: "", password: "" },
    { name: checkName, email: checkEmail, password: checkNewPassword },
  );
  const create = useMutation({
    mutationFn: async () => {
      const { name, email, password } = fields.values;
      const credentials = { email: email.trim(), password };
      await callOnce(
        () => account.setUp({ token, name: name.trim(), ...credentials }, sentOnce),
        // The e-mail can also be that of an account in another workspace.
        () => signIn({ ...credentials, workspace_id: defaultWorkspaceId }, firstPage),
      );
    },
  });
  return (
    <AccountPage
      title="Create the owner"
      lead="The owner manages this installation and invites other people. The link works once."
    >
      <form
        ref={fields.form}
        noValidate
        onSubmit={fields.submit(() => create.mutate())}
        className="flex flex-col gap-4"
      >
        <Field label="Your name" error={fields.errors.name}>
          <TextInput {...fields.input("name")} autoComplete="name" autoFocus />
        </Field>
        <Field label="E-mail" error={fields.errors.email} hint="You sign in with it.">
          <TextInput {...fields.input("email")} type="email" autoComplete="username" />
        </Field>
        <Field label="Password" error={fields.errors.password} hint="At least 12 characters.">
          <PasswordInput {...fields.input("password")} autoComplete="new-password" />
        </Field>
        <FormError error={tooManySentence(create.error) ?? create.error} />
        <Button
          type="submit"
          variant="primary"
          pending={create.isPending}
          pendingText="Creating the owner…"
        >
          Create owner
        </Button>
      </form>
    </AccountPage>
  );
}

/**
 * Returns the path of the newest agent's playground, or of the workspace if it has no agents. In a
 * new installation the only agent is the demo agent.
 */
async function firstPage(): Promise<string> {
  const { workspaces } = await account.me.get();
  const [workspace] = workspaces;
  if (workspace === undefined) return "/";
  const { data } = await clientOf(workspace.id).agents.list({ limit: 1 }).page();
  const [agent] = data;
  const path = `/w/${workspace.id}`;
  return agent === undefined ? path : `${path}/agents/${agent.id}/playground`;
}
