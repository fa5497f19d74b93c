import { useEffect, useState } from "react";
import { copyText } from "./copy.ts";

/**
 * The result of copying; `idle` before a text is copied, and once the result is no longer shown.
 */
export type CopyState = "idle" | "copied" | "failed";

/** Seconds for which the result of copying is shown. */
const shownSeconds = 2;

/**
 * Returns the state of copying, and the function that copies a text. Its parameter `near` is the
 * pressed button, as in `copyText`.
 */
export function useCopy(): [CopyState, (text: string, near: Element | null) => Promise<void>] {
  const [state, setState] = useState<CopyState>("idle");
  useEffect(() => {
    if (state === "idle") return;
    const timer = setTimeout(() => setState("idle"), shownSeconds * 1000);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async (text: string, near: Element | null) => {
    setState((await copyText(text, near)) ? "copied" : "failed");
  };
  return [state, copy];
}
