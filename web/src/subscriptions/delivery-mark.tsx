import type { Delivery } from "@beckon/client";
import { type KnownStatus, StatusMark } from "../ui/index.ts";

type Status = Delivery["status"];

const shapes: Readonly<Record<Status, KnownStatus>> = {
  pending: "queued",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
  not_sent: "cancelled",
};

interface DeliveryMarkProps {
  readonly delivery: Pick<Delivery, "status" | "last_error">;
}

/** The state of a delivery. A delivery that waits after a failed attempt is shown as a warning. */
export function DeliveryMark({ delivery }: DeliveryMarkProps) {
  const { status } = delivery;
  const shape = Object.hasOwn(shapes, status) ? shapes[status] : status;
  return (
    <StatusMark status={isRetried(delivery) ? "waiting" : shape} word={deliveryWord(delivery)} />
  );
}

/** Returns the state of a delivery as a word: `Retrying`, `Not sent`. */
export function deliveryWord(delivery: DeliveryMarkProps["delivery"]): string {
  if (isRetried(delivery)) return "Retrying";
  const text = delivery.status.replace("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const isRetried = ({ status, last_error }: DeliveryMarkProps["delivery"]) =>
  status === "pending" && last_error !== null;
