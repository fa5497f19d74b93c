import { useQueryClient } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { account, meQuery, nextPath, workspaceIn } from "../data/index.ts";
import { AccountPage } from "./account-page.tsx";
import { SignInForm } from "./sign-in-form.tsx";
import { useSignIn } from "./use-sign-in.ts";

/** Signs a person in, then opens the page from which they were sent to the sign-in page. */
export function SignInScreen() {
  const search: { readonly next?: string } = useSearch({ strict: false });
  const next = nextPath(search.next) ?? "/";
  const router = useRouter();
  const queryClient = useQueryClient();
  const signIn = useSignIn();
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
      <SignInForm workspace={workspaceIn(next)} signIn={(body) => signIn(body, () => next)} />
      <p className="text-dense text-ink-2">
        No account yet? Ask an owner or admin for an invitation. Until there is an owner, each start
        of Beckon prints a link for the first one.
      </p>
    </AccountPage>
  );
}
