import { type Followed, RunProblem } from "../../runs/index.ts";
import { Banner, Button, Problem } from "../../ui/index.ts";

/** Says why a run failed, or why this page cannot show it; nothing if neither is the case. */
export function FollowProblem({ followed }: { readonly followed: Followed }) {
  const { transcript, isLost, error, refetch } = followed;
  return (
    <>
      {transcript.error ? <RunProblem error={transcript.error} /> : null}
      {error === null ? null : (
        <Problem error={error} title="The run could not be loaded." onRetry={refetch} />
      )}
      {isLost ? (
        <Banner
          tone="warning"
          action={
            <Button size="small" onClick={() => location.reload()}>
              Reload
            </Button>
          }
        >
          This run is no longer followed here. It continues on the server.
        </Banner>
      ) : null}
    </>
  );
}
