import { X } from "lucide-react";
import { IconButton } from "../ui/index.ts";

interface ResetNoticeProps {
  readonly reason: string | undefined;
  readonly dismiss: () => void;
}

/** Explains why the page has refetched all its data. */
export function ResetNotice({ reason, dismiss }: ResetNoticeProps) {
  return (
    <div role="status">
      {reason === undefined ? null : (
        <p className="flex items-center justify-between gap-4 border-rule border-b bg-brass-soft px-4 py-1 text-brass text-dense">
          {reason}
          <IconButton icon={X} label="Dismiss" size="small" onClick={dismiss} />
        </p>
      )}
    </div>
  );
}
