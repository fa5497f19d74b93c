import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { isUnauthorized, sentenceOf } from "../data/index.ts";
import { Link, Problem } from "../ui/index.ts";
import { AccountPage } from "./account-page.tsx";
import { tooManySentence } from "./sign-in-errors.ts";
import { useLinkToken } from "./use-link-token.ts";

interface LinkCheckProps<Link> {
  /** Title while the link is checked. */
  readonly title: string;
  /** Checks the token of the link with the server, and returns what the link is for. */
  readonly check: (token: string) => Promise<Link>;
  /** The page of a valid link. */
  readonly children: (link: Link, token: string) => ReactNode;
}

/** Checks a one-time link, and then shows its page. */
export function LinkCheck<Link>({ title, check, children }: LinkCheckProps<Link>) {
  const token = useLinkToken();
  const { data, error, refetch } = useQuery({
    queryKey: ["link", title, token],
    queryFn: () => check(token ?? ""),
    enabled: token !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (token === undefined) {
    return (
      <AccountPage
        title="This link is incomplete"
        lead="The part after # is missing, or the page was reloaded. Open the whole link again."
      >
        <ToSignIn />
      </AccountPage>
    );
  }
  if (isUnauthorized(error)) {
    return (
      <AccountPage title="This link is no longer valid" lead={sentenceOf(error)}>
        <ToSignIn />
      </AccountPage>
    );
  }
  if (error !== null) {
    return (
      <AccountPage title={title}>
        <Problem error={tooManySentence(error) ?? error} onRetry={refetch} />
      </AccountPage>
    );
  }
  if (data === undefined) {
    return (
      <AccountPage title={title}>
        <p role="status" className="animate-late text-ink-3">
          Checking the link…
        </p>
      </AccountPage>
    );
  }
  return children(data, token);
}

function ToSignIn() {
  return (
    <p>
      <Link href="/sign-in">Sign in</Link>
    </p>
  );
}
