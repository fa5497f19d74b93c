import type { Session } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import {
  account,
  announceChanges,
  failureOf,
  isNotFound,
  isOutcomeUnknown,
  useSession,
} from "../../data/index.ts";
import { formatDate } from "../../format/index.ts";
import {
  Badge,
  Button,
  Row,
  useNow,
  useSignOutQuestion,
  useTimeZone,
  useToast,
} from "../../ui/index.ts";
import { browserName } from "./browser-name.ts";
import { sessionsKey } from "./queries.ts";

const dayMs = 86_400_000;

/** A browser in which the person is signed in. */
export function SessionRow({ session }: { readonly session: Session }) {
  const { id, current, address, user_agent: userAgent } = session;
  const control = useSession();
  const queryClient = useQueryClient();
  const toast = useToast();
  const name = browserName(userAgent);
  const end = useMutation({
    mutationFn: () => (current ? control.signOut() : account.sessions.revoke(id)),
    onSuccess: () => {
      if (current) return;
      toast({ tone: "success", title: `Signed out ${name}` });
      return announceChanges(queryClient, sessionsKey);
    },
    onError: (thrown) => {
      // The session has already ended, which is what the person wanted, so no error is shown.
      if (isNotFound(thrown)) return announceChanges(queryClient, sessionsKey);
      toast({
        tone: "failure",
        title: isOutcomeUnknown(thrown)
          ? `The sign-out of ${name} was not confirmed.`
          : `${name} is still signed in.`,
        description: failureOf(thrown, "it is signed out", "Sign it out again."),
      });
      return undefined;
    },
  });
  const { ask, question } = useSignOutQuestion(() => end.mutate());
  return (
    <Row
      title={
        <span className="flex min-w-0 items-center gap-2" title={userAgent ?? undefined}>
          <span className="truncate font-semibold">{name}</span>
          {current ? <Badge tone="tide">This session</Badge> : null}
        </span>
      }
      detail={
        <>
          <span className="font-mono">{address ?? "unknown address"}</span>
          {" · "}
          {current ? "in use now" : <LastUse at={session.last_used_at} />}
        </>
      }
      end={
        <>
          <Button
            size="small"
            variant="quiet"
            onClick={() => (current ? ask() : end.mutate())}
            pending={end.isPending}
            pendingText="Ending…"
            aria-label={current ? "Sign out this session" : `Sign out ${name}`}
          >
            Sign out
          </Button>
          {question}
        </>
      }
    />
  );
}

/** Shows when a session was last used, to the day: the server stores no exact time. */
function LastUse({ at }: { readonly at: string }) {
  const now = useNow();
  const zone = useTimeZone();
  if (now - Date.parse(at) < dayMs) return "used in the last day";
  return `used on ${formatDate(at, now, zone)}`;
}
