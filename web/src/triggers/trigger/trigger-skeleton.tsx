import { Panel, Skeleton } from "../../ui/index.ts";

/** A placeholder for the panels of a trigger while it loads. It is about as large as they are. */
export function TriggerSkeleton() {
  return (
    <div aria-busy="true" className="flex flex-col gap-4">
      <div className="h-control w-60">
        <Skeleton variant="block" />
      </div>
      <Panel title="URL">
        <div className="h-30">
          <Skeleton width={80} />
        </div>
      </Panel>
      <Panel title="Input">
        <div className="h-80">
          <Skeleton width={60} />
        </div>
      </Panel>
      <span className="sr-only">Loading the trigger</span>
    </div>
  );
}
