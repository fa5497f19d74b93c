import { useState } from "react";
import { afterApplied } from "./typed-search.ts";

/**
 * Returns the text of a search field. If the field itself has changed `applied`, what was typed
 * since is kept. If something else has, such as the Back button, `applied` replaces the text.
 * @param applied the text by which the list is searched
 */
export function useTypedSearch(applied: string) {
  const [typed, setTyped] = useState({ text: applied, sent: [] as readonly string[] });
  const [last, setLast] = useState(applied);
  if (applied !== last) {
    setLast(applied);
    setTyped(afterApplied(typed, applied));
  }
  return {
    text: typed.text,
    setText: (text: string) => setTyped((now) => ({ ...now, text })),
    /** Call it when the field searches for a text, which then becomes `applied`. */
    noteSent: (text: string) => setTyped((now) => ({ ...now, sent: [...now.sent, text] })),
  };
}
