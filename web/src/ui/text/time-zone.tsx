import { createContext, type ReactNode, useContext } from "react";

const TimeZoneContext = createContext(Intl.DateTimeFormat().resolvedOptions().timeZone);

interface TimeZoneProviderProps {
  /** IANA time zone of the workspace. */
  readonly zone: string;
  readonly children: ReactNode;
}

/**
 * Sets the time zone in which its child components show times. Without it, they use the browser's
 * time zone.
 */
export function TimeZoneProvider({ zone, children }: TimeZoneProviderProps) {
  return <TimeZoneContext value={zone}>{children}</TimeZoneContext>;
}

/** Returns the IANA zone in which times are shown. */
export function useTimeZone(): string {
  return useContext(TimeZoneContext);
}
