import type { Trigger } from "@beckon/client";
import { useWorkspace } from "../../data/index.ts";
import { Banner, Button } from "../../ui/index.ts";
import { needsEditor } from "../permission.ts";
import type { useListening } from "./use-listening.ts";

interface ListeningBannerProps {
  readonly trigger: Trigger;
  readonly listening: ReturnType<typeof useListening>;
}

/** Says that the next request is captured as a sample, and for how long. */
export function ListeningBanner({ listening }: ListeningBannerProps) {
  const { can } = useWorkspace();
  const { secondsLeft, stop, isPending } = listening;
  if (secondsLeft === 0) return null;
  return (
    <div className="border-b border-rule p-3">
      <Banner
        action={
          <Button size="small" onClick={stop} pending={isPending} disabledReason={needsEditor(can)}>
            Stop
          </Button>
        }
      >
        Listening for a sample, {secondsLeft} s left. The next verified request is captured and
        starts no run.
      </Banner>
    </div>
  );
}
