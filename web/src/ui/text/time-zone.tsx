import { createContext, type ReactNode, useContext } from "react";

const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const TimeZoneContext = createContext(browserZone);

interface TimeZoneProviderProps {
  /** IANA time zone of the workspace; undefined for the browser's time zone. */
  readonly zone: string | undefined;
  readonly children: ReactNode;
}

/** Sets the time zone in which its child components show times. */
export function TimeZoneProvider({ zone, children }: TimeZoneProviderProps) {
  return <TimeZoneContext value={zone ?? browserZone}>{children}</TimeZoneContext>;
}

/** Returns the IANA zone in which times are shown. */
export function useTimeZone(): string {
  return useContext(TimeZoneContext);
}
