import type { Run } from "@beckon/client";
import { lazy, Suspense } from "react";

const RunDeliveriesList = lazy(async () => ({
  default: (await import("../subscriptions-screen.tsx")).RunDeliveriesList,
}));

/** The deliveries about a run. The code is loaded when the list is shown. */
export function RunDeliveries({ run }: { readonly run: Pick<Run, "id"> }) {
  return (
    <Suspense fallback={<div className="h-40" />}>
      <RunDeliveriesList run={run} />
    </Suspense>
  );
}
