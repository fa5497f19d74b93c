import type { Trigger } from "@beckon/client";
import { useWorkspace } from "../../data/index.ts";
import { formatClock } from "../../format/index.ts";
import { Banner, Button } from "../../ui/index.ts";
import type { useListening } from "./use-listening.ts";

interface ListeningBannerProps {
  readonly trigger: Trigger;
  readonly listening: ReturnType<typeof useListening>;
}

/** Says that the next request is captured as a sample, and for how long. */
export function ListeningBanner({ trigger, listening }: ListeningBannerProps) {
  const { whyNot, timeZone } = useWorkspace();
  const { listening_until: until } = trigger;
  const { secondsLeft, stop, isPending } = listening;
  if (until === null || secondsLeft === 0) return null;
  return (
    <div className="border-b border-rule p-3">
      <Banner
        action={
          <>
            {/* Screen readers get the end instead, because they would read each second aloud. */}
            <span aria-hidden className="text-ink-2">
              {secondsLeft} s left
            </span>
            <Button
              size="small"
              onClick={stop}
              pending={isPending}
              disabledReason={whyNot("triggers:write")}
            >
              Stop
            </Button>
          </>
        }
      >
        Listening for a sample until {formatClock(until, timeZone)}. The next verified request is
        captured and starts no run.
      </Banner>
    </div>
  );
}
