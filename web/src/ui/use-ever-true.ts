import { useState } from "react";

/**
 * Returns whether the condition is true now, or was in an earlier rendering of the component. A
 * dialog that was allowed when it opened stays open, with what was typed or is shown once.
 */
export function useEverTrue(condition: boolean): boolean {
  const [was, setWas] = useState(condition);
  if (condition && !was) setWas(true);
  return was || condition;
}
