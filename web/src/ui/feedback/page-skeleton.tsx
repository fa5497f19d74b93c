import { Skeleton } from "./skeleton.tsx";

/** A placeholder for the page of one resource while it is loaded: its header and a panel. */
export function PageSkeleton() {
  return (
    <div className="flex min-w-0 flex-col" aria-busy="true">
      <div className="flex min-h-40 flex-col gap-4 border-b border-rule bg-sheet p-4 md:px-6">
        <Skeleton width={25} />
        <Skeleton width={40} />
        <Skeleton width={60} />
      </div>
      <div className="p-4 md:p-6">
        <div className="h-88 rounded-control border border-rule bg-sheet" />
      </div>
    </div>
  );
}
