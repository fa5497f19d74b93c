import { useState } from "react";
import { useMe } from "../me.ts";
import { keepOrForget, keptKey, readKept } from "./tab-storage.ts";

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
  const key = keptKey(name, useMe().id, id);
  const [state, setState] = useState((): State => {
    const text = readKept(key);
    return text === undefined ? initial : JSON.parse(text);
  });
  const change = (next: State) => {
    setState(next);
    keepOrForget(key, JSON.stringify(next));
  };
  return [state, change];
}
