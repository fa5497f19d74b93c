import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import {
  graceEnd,
  isNotFound,
  isOutcomeUnknown,
  useRotation,
  useWorkspace,
} from "../../data/index.ts";
import { type TokenState, tokenStateQuery } from "./queries.ts";

/**
 * Grace period of a token that may exist although this page knows of none: somebody else can have
 * issued it meanwhile, and its callers must not be rejected at once. In seconds.
 */
const issueGraceSeconds = 3_600;

/** Returns the known state of an agent's token, and the actions on it. */
export function useToken(agentId: string) {
  const workspace = useWorkspace();
  const { client } = workspace;
  const queryClient = useQueryClient();
  const { unknown, send, release } = useRotation<number>(`rotate.${agentId}`);
  const known = tokenStateQuery(workspace, agentId);
  const { data: state } = useQuery(known);
  const learn = (learned: TokenState) => queryClient.setQueryData(known.queryKey, learned);
  const learnRevoked = () => {
    // If the response of a rotation was lost, its Idempotency-Key was kept. Another rotation with
    // this key would return the first one's token, which is revoked now.
    release();
    learn({ isIssued: false });
  };

  const rotate = async (graceSeconds: number) => {
    const body = { grace_seconds: graceSeconds };
    const { token, sentAt } = await send(graceSeconds, (options) =>
      client.agents.rotateToken(agentId, body, options),
    );
    learn({
      isIssued: true,
      previousUntil: state.isIssued ? graceEnd(sentAt, graceSeconds) : undefined,
    });
    return token;
  };
  const issue = useMutation({ mutationFn: () => rotate(issueGraceSeconds) });

  return {
    state,
    /** Grace period of a rotation whose outcome is not known, in seconds. */
    unknownGraceSeconds: unknown,
    /** @throws BeckonError */
    rotate,
    /** Returns the handler that issues a token for an agent that has none. */
    issue: (onIssued: (token: string) => void) => () =>
      issue.mutate(undefined, {
        onSuccess: (token) => {
          onIssued(token);
          // Otherwise the mutation would keep the token in memory while the screen is open.
          issue.reset();
        },
      }),
    isIssuing: issue.isPending,
    issueError: issue.error,
    /** @throws BeckonError */
    reveal: async () => {
      try {
        const { token } = await client.agents.revealToken(agentId);
        // If the response of a rotation was lost, the person now has its token. The next rotation
        // must issue a new token, so it needs a new Idempotency-Key.
        release();
        return token;
      } catch (thrown) {
        if (isNotFound(thrown)) learnRevoked();
        throw thrown;
      }
    },
    /** @throws BeckonError */
    revoke: async () => {
      try {
        await client.agents.revokeToken(agentId);
      } catch (thrown) {
        // The token may be revoked now. If the response of an earlier rotation was lost, its
        // Idempotency-Key must be released, as in `learnRevoked`.
        if (isOutcomeUnknown(thrown)) release();
        throw thrown;
      }
      learnRevoked();
    },
  };
}
