import { Panel, Skeleton } from "../../ui/index.ts";

/** A placeholder of the same size as the providers, shown while they load. */
export function ProvidersSkeleton() {
  return (
    <div aria-busy="true" className="flex flex-col gap-6">
      {["This workspace", "This installation"].map((title) => (
        <Panel key={title} title={title} padding="none">
          <div className="flex h-16 flex-col justify-center px-4">
            <Skeleton width={25} />
            <Skeleton width={40} />
          </div>
        </Panel>
      ))}
    </div>
  );
}
