import type { BrowserContextOptions } from "playwright-core";

export const themes = ["light", "dark"] as const;
export type Theme = (typeof themes)[number];

export const viewports = {
  phone: { width: 390, height: 844 },
  narrow: { width: 360, height: 740 },
  tablet: { width: 768, height: 1024 },
  desktop: { width: 1440, height: 900 },
  wide: { width: 2560, height: 1440 },
  ultraWide: { width: 3840, height: 2160 },
} as const;

/** Options of every profile. Motion is reduced, so that tests do not wait for animations. */
export const profileOptions = {
  viewport: viewports.desktop,
  reducedMotion: "reduce",
  locale: "en-GB",
  timezoneId: "UTC",
} as const satisfies BrowserContextOptions;

/** Converts a session cookie from `name=value` to the format of Playwright's `addCookies`. */
export function cookieFor(url: string, cookie: string) {
  const [name = "", value = ""] = cookie.split("=");
  return { name, value, url, httpOnly: true, sameSite: "Strict" as const };
}
