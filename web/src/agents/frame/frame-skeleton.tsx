import { Skeleton } from "../../ui/index.ts";

/** A placeholder of the same size as the frame, shown while the agent loads. */
export function FrameSkeleton() {
  return (
    <div
      aria-busy="true"
      className="flex flex-col gap-3 border-b border-rule bg-sheet px-4 pt-4 md:px-6"
    >
      <div className="h-4.5 w-16">
        <Skeleton />
      </div>
      <div className="h-control w-60">
        <Skeleton />
      </div>
      <div className="h-9" />
      <span className="sr-only">Loading the agent</span>
    </div>
  );
}
