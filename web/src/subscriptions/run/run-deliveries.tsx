import { lazyPart } from "../../ui/index.ts";

/** The deliveries about a run. The code is loaded when the list is shown. */
export const RunDeliveries = lazyPart(
  async () => (await import("../screens.ts")).RunDeliveriesList,
  () => <div className="h-40" />,
);
