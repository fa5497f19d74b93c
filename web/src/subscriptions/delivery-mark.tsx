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
  readonly delivery: Pick<Delivery, "status" | "attempts" | "last_error">;
  readonly label?: "shown" | "hidden";
}

/** The state of a delivery. One that waits after a failed attempt looks like a warning. */
export function DeliveryMark({ delivery, label = "shown" }: DeliveryMarkProps) {
  const { status, last_error } = delivery;
  const isRetried = status === "pending" && last_error !== null;
  const shape = Object.hasOwn(shapes, status) ? shapes[status] : status;
  return (
    <StatusMark
      status={isRetried ? "waiting" : shape}
      word={isRetried ? "Retrying" : status === "not_sent" ? "Not sent" : wordOf(status)}
      label={label}
    />
  );
}

const wordOf = (status: string) => status.charAt(0).toUpperCase() + status.slice(1);
