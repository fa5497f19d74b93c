import { Tooltip } from "radix-ui";
import type { ReactNode } from "react";
import { ToastProvider } from "./overlay/toast.tsx";
import { TimeZoneProvider } from "./text/time-zone.tsx";

interface UiProviderProps {
  /** IANA zone of the workspace; the browser's unless given. */
  readonly timeZone?: string | undefined;
  readonly children: ReactNode;
}

/** What tooltips, toasts and times need above them, once per page. */
export function UiProvider({ timeZone, children }: UiProviderProps) {
  return (
    <TimeZoneProvider zone={timeZone}>
      <Tooltip.Provider delayDuration={400} skipDelayDuration={200}>
        <ToastProvider>{children}</ToastProvider>
      </Tooltip.Provider>
    </TimeZoneProvider>
  );
}
