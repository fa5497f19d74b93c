import { useState } from "react";
import { useMe } from "../me.ts";

/**
 * Returns a state and a function that changes it. This tab keeps a changed state while another
 * screen is open and over a reload, until the person signs out. It must contain no secrets.
 * @param name names the state, for example `payload`
 * @param id id of the resource. Use it as `key` of the component, too.
 */
export function useKept<State>(
  name: string,
  id: string,
  initial: State,
): readonly [State, (next: State) => void] {
  // The user is part of the key, because another person can sign in in the same tab.
  const key = `beckon.${name}.${useMe().id}.${id}`;
  const [state, setState] = useState((): State => {
    const text = sessionStorage.getItem(key);
    return text === null ? initial : JSON.parse(text);
  });
  const change = (next: State) => {
    setState(next);
    try {
      sessionStorage.setItem(key, JSON.stringify(next));
    } catch {
      // The storage is full. Without this line, a reload would show an earlier state.
      sessionStorage.removeItem(key);
    }
  };
  return [state, change];
}
