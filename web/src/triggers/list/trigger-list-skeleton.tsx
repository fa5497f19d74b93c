import { Skeleton } from "../../ui/index.ts";

/** A placeholder for the list while it loads, as high as three triggers. */
export function TriggerListSkeleton() {
  return (
    <div aria-busy="true" className="flex flex-col divide-y divide-rule">
      {[1, 2, 3].map((row) => (
        <div key={row} className="flex flex-col px-4 py-1.5">
          <Skeleton width={60} />
          <Skeleton width={40} />
        </div>
      ))}
      <span className="sr-only">Loading triggers</span>
    </div>
  );
}
