import { useEffect, useEffectEvent, useState } from "react";
import { afterApplied } from "./typed-search.ts";

/** Time without typing after which the list is searched, in milliseconds. */
const pauseMs = 200;

/**
 * Returns the text of a search field and its setter.
 * @param applied the text that the list is searched by
 * @param apply searches the list by another text. Called when typing pauses.
 */
export function useSearchText(applied: string, apply: (text: string) => void) {
  const [typed, setTyped] = useState({ text: applied, sent: [] as readonly string[] });
  const [last, setLast] = useState(applied);
  if (applied !== last) {
    setLast(applied);
    setTyped(afterApplied(typed, applied));
  }
  const { text } = typed;
  const send = useEffectEvent(() => {
    const next = text.trim();
    setTyped({ text, sent: [...typed.sent, next] });
    apply(next);
  });
  useEffect(() => {
    if (text.trim() === applied) return;
    const timer = setTimeout(send, pauseMs);
    return () => clearTimeout(timer);
  }, [text, applied]);
  return [text, (next: string) => setTyped({ ...typed, text: next })] as const;
}
