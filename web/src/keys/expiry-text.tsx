import { TriangleAlert } from "lucide-react";
import { formatExact } from "../format/index.ts";
import { Badge, Time, useNow, useTimeZone } from "../ui/index.ts";
import { expiryOf, remaining } from "./expiry.ts";

/** Shows when a key expires, with a warning if it expires soon. */
export function ExpiryText({ expiresAt }: { readonly expiresAt: string | null }) {
  const now = useNow();
  const zone = useTimeZone();
  switch (expiryOf(expiresAt, now)) {
    case "never":
      return <span className="text-ink-2">Never</span>;
    case "later":
      return <Time value={expiresAt} />;
    case "expired":
      return (
        <span className="inline-flex align-middle">
          <Badge tone="flare">Expired</Badge>
        </span>
      );
    case "soon":
      return (
        <span
          title={formatExact(expiresAt ?? "", zone)}
          className="relative z-1 inline-flex align-middle"
        >
          <Badge tone="brass" icon={TriangleAlert}>
            {`In ${remaining(expiresAt ?? "", now)}`}
          </Badge>
        </span>
      );
  }
}
