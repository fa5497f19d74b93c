import { useEffect, useEffectEvent } from "react";
import { useTypedSearch } from "../../ui/index.ts";

/** Time without typing after which the list is searched, in milliseconds. */
const pauseMs = 200;

/**
 * Returns the text of a search field and its setter.
 * @param applied the text that the list is searched by
 * @param apply searches the list by another text. Called when typing pauses.
 */
export function useSearchText(applied: string, apply: (text: string) => void) {
  const { text, setText, noteSent } = useTypedSearch(applied);
  const send = useEffectEvent(() => {
    noteSent(text.trim());
    apply(text.trim());
  });
  useEffect(() => {
    if (text.trim() === applied) return;
    const timer = setTimeout(send, pauseMs);
    return () => clearTimeout(timer);
  }, [text, applied]);
  return [text, setText] as const;
}
