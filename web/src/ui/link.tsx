import { useRouter } from "@tanstack/react-router";
import type { ComponentProps, MouseEvent } from "react";

/** Properties of {@link Anchor}. */
export interface AnchorProps extends Omit<ComponentProps<"a">, "href"> {
  readonly href: string;
  /** Whether the page stays scrolled where it is. Default false: it scrolls to its top. */
  readonly keepsScroll?: boolean;
}

/**
 * An `<a>`, from which other components are built. Paths within the dashboard are opened by the
 * router. URLs with a scheme are opened in a new tab, without a referrer.
 */
export function Anchor({ href, keepsScroll = false, onClick, ...rest }: AnchorProps) {
  const router = useRouter({ warn: false });
  if (/^[a-z][a-z0-9+.-]*:/i.test(href))
    return <a href={href} target="_blank" rel="noreferrer" onClick={onClick} {...rest} />;
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const newTab = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    // The browser opens the link itself if there is no router (in tests and on error pages), or if
    // the click opens a new tab. If `onClick` has prevented the click, nothing opens the link.
    if (!router || event.defaultPrevented || newTab || event.button !== 0) return;
    if (rest.target !== undefined && rest.target !== "_self") return;
    if (rest.download !== undefined) return;
    event.preventDefault();
    const { pathname } = router.latestLocation;
    const state = { isWithinPage: new URL(href, location.href).pathname === pathname };
    if (keepsScroll) void router.navigate({ href, state, resetScroll: false });
    else router.history.push(href, state);
  };
  return <a href={href} onClick={follow} {...rest} />;
}

interface LinkProps extends Omit<AnchorProps, "className" | "style"> {
  /**
   * `text` (the default) is for links in sentences; `quiet` where a whole row or list consists of
   * links.
   */
  readonly variant?: "text" | "quiet";
}

/** A link in text. `href` is a path of the dashboard or an absolute URL. */
export function Link({ variant = "text", ...rest }: LinkProps) {
  const look =
    variant === "text"
      ? "text-tide underline decoration-1 underline-offset-3 hover:text-tide-strong"
      : "text-ink hover:text-tide hover:underline underline-offset-3";
  return <Anchor {...rest} className={`rounded-bar ${look}`} />;
}
