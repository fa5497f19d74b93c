import type { ReactNode } from "react";
import { ToastProvider } from "./overlay/toast.tsx";
import { TimeZoneProvider } from "./text/time-zone.tsx";

interface UiProviderProps {
  /** IANA time zone of the workspace. Default: the browser's time zone. */
  readonly timeZone?: string | undefined;
  readonly children: ReactNode;
}

/**
 * Provides the contexts of toasts and times. Render it once per page, around everything that uses
 * toasts or times.
 */
export function UiProvider({ timeZone, children }: UiProviderProps) {
  return (
    <TimeZoneProvider zone={timeZone}>
      <ToastProvider>{children}</ToastProvider>
    </TimeZoneProvider>
  );
}
