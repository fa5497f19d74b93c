import { useEffect, useEffectEvent, useState } from "react";

const pauseMs = 200;

/**
 * Returns the text of a search field and its setter. `apply` is called when typing pauses.
 * @param applied the text that the list is searched by
 */
export function useSearchText(applied: string, apply: (text: string) => void) {
  const [text, setText] = useState(applied);
  const [last, setLast] = useState(applied);
  // The applied text has changed without typing, for example by the Back button. It replaces the
  // typed text.
  if (applied !== last) {
    setLast(applied);
    if (applied !== text.trim()) setText(applied);
  }
  const send = useEffectEvent(() => apply(text.trim()));
  useEffect(() => {
    if (text.trim() === applied) return;
    const timer = setTimeout(send, pauseMs);
    return () => clearTimeout(timer);
  }, [text, applied]);
  return [text, setText] as const;
}
