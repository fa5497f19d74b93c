import type { Subscription } from "@beckon/client";
import { type KnownStatus, StatusMark } from "../ui/index.ts";
import { type Health, healthOf, healthWords } from "./health.ts";

const shapes: Readonly<Record<Health, KnownStatus>> = {
  working: "succeeded",
  unused: "queued",
  failing: "failed",
  paused: "waiting",
  disabled: "failed",
};

/** The health of a subscription, in a few words. */
export function HealthMark({ subscription }: { readonly subscription: Subscription }) {
  const health = healthOf(subscription);
  return <StatusMark status={shapes[health]} word={healthWords[health]} />;
}
