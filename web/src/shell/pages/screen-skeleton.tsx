import { Skeleton } from "../../ui/index.ts";

/** A placeholder for a screen while it loads: its header and its body. */
export function ScreenSkeleton() {
  return (
    <div className="flex min-w-0 flex-col">
      <div className="border-b border-rule bg-sheet px-4 py-4 md:px-6">
        <div className="flex min-h-control w-60 max-w-full flex-col justify-center">
          <Skeleton />
        </div>
      </div>
      <div className="flex min-w-0 flex-col p-4 md:p-6">
        <BodySkeleton />
      </div>
    </div>
  );
}

/** A placeholder for the body of a screen whose header is shown already, for example an agent's. */
export function BodySkeleton() {
  return (
    <div
      aria-busy="true"
      className="flex flex-col gap-3 rounded-control border border-rule bg-sheet p-4"
    >
      <p role="status" className="sr-only">
        Loading…
      </p>
      <Skeleton width={80} />
      <Skeleton width={60} />
      <Skeleton width={80} />
      <Skeleton width={40} />
    </div>
  );
}
