import type { RunStreamState } from "../../../live/index.ts";
import { Banner, Button } from "../../../ui/index.ts";

interface StreamNoticeProps {
  readonly state: RunStreamState;
  readonly onRetry: () => void;
}

const sentences: Readonly<Partial<Record<RunStreamState, string>>> = {
  replaced:
    "This run is not shown live: other tabs use the few connections of the browser. Close some, or reload this page.",
  failed: "This run is not shown live: its stream has ended. What you see can be outdated.",
};

/** Says that an active run is not shown live, with a button that subscribes to the run again. */
export function StreamNotice({ state, onRetry }: StreamNoticeProps) {
  const sentence = sentences[state];
  if (sentence === undefined) return null;
  return (
    <Banner
      tone="warning"
      action={
        <Button size="small" onClick={onRetry}>
          Show it live
        </Button>
      }
    >
      {sentence}
    </Banner>
  );
}
