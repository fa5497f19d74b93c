import type { Run } from "@beckon/client";
import { lazy, Suspense } from "react";

const RunDeliveriesList = lazy(async () => ({
  default: (await import("../subscriptions-screen.tsx")).RunDeliveriesList,
}));

/** What was delivered about a run. Its code is loaded when it is shown. */
export function RunDeliveries({ run }: { readonly run: Pick<Run, "id"> }) {
  return (
    <Suspense fallback={<div className="h-40" />}>
      <RunDeliveriesList run={run} />
    </Suspense>
  );
}
