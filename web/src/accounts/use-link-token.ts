import { useLocation } from "@tanstack/react-router";
import { useEffect, useState } from "react";

/**
 * Returns the token of a one-time link, which follows `#`; undefined if the URL has none. Removes
 * the token from the URL at once, so that the browser's history does not contain it. After a
 * reload, the person must open the link again.
 */
export function useLinkToken(): string | undefined {
  const { hash } = useLocation();
  const [token, setToken] = useState(() => tokenOf(location.hash));
  useEffect(() => {
    const found = tokenOf(hash);
    if (found === undefined) return;
    setToken(found);
    history.replaceState(history.state, "", location.pathname);
  }, [hash]);
  return token;
}

function tokenOf(hash: string): string | undefined {
  return new URLSearchParams(hash.replace(/^#/, "")).get("token") ?? undefined;
}
