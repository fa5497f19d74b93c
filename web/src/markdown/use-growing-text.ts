import { useEffect, useEffectEvent, useState } from "react";

/** Maximum number of characters of a text whose every change is returned at once. */
const maxQuick = 10_000;
const intervalMs = 500;

/**
 * Returns the text, or an earlier state of it: while a text of more than 10,000 characters grows,
 * the result changes only every 500 ms. Without this, a streamed answer would be parsed again in
 * every frame, which takes longer the longer it is.
 */
export function useGrowingText(text: string): string {
  const [shown, setShown] = useState(text);
  const isGrowing = text.length > maxQuick && text !== shown && text.startsWith(shown);
  const catchUp = useEffectEvent(() => setShown(text));
  useEffect(() => {
    if (!isGrowing) return;
    const timer = setTimeout(() => catchUp(), intervalMs);
    return () => clearTimeout(timer);
  }, [isGrowing]);
  if (isGrowing) return shown;
  if (shown !== text) setShown(text);
  return text;
}
